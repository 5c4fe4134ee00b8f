"""The API's OpenAPI document, generated from the code."""
