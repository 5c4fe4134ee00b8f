"""The OpenAPI document as an HTML page, with the copy of Swagger UI that ships with Powertools."""

import json
from collections.abc import Mapping
from importlib import resources
from typing import Any

from aws_lambda_powertools.event_handler.openapi import swagger_ui


def page(document: Mapping[str, Any]) -> str:
    """A page that needs no other file."""
    files = resources.files(swagger_ui)
    # The document is embedded in a script element, and a closing tag within it would end that element.
    spec = json.dumps(document).replace("</", "<\\/")
    script = (files / "swagger-ui-bundle.min.js").read_text(encoding="utf-8")
    style = (files / "swagger-ui.min.css").read_text(encoding="utf-8")
    html = swagger_ui.generate_swagger_html(
        spec=spec, swagger_js=script, swagger_css=style, swagger_base_url="", oauth2_config=None
    )
    # Powertools' page would fetch the document from the page's own path.
    return html.replace('currentUrl.pathname + "?format=json"', 'new URL("openapi.json", currentUrl).href')
