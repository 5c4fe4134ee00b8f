"""HTTP through any kind of API: routes, requests and status codes."""
