"""Passage as an action group of a Bedrock agent: python bedrock_action_group.py URL AGENT_ID FUNCTION_ARN

Bedrock takes OpenAPI 3.0 without `enum`. So the schema has one operation of the deployment's /openapi-3.0.json, with
two of its fields.
"""

import json
import sys
from typing import Any

import boto3
import httpx

FIELDS = ("text", "k")


def api_schema(url: str) -> dict[str, Any]:
    document = httpx.get(f"{url}/openapi-3.0.json", timeout=30).raise_for_status().json()
    operation = document["paths"]["/query"]["post"]
    name = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
    all_fields = document["components"]["schemas"][name]["properties"]
    fields = {field: {key: all_fields[field][key] for key in ("type", "description")} for field in FIELDS}
    body = {"type": "object", "properties": fields, "required": ["text"]}
    described = {
        "operationId": operation["operationId"],
        "description": "Returns the passages of the documentation that answer a question, each with its URL.",
        "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
        "responses": {"200": {"description": operation["responses"]["200"]["description"]}},
    }
    return {"openapi": "3.0.0", "info": document["info"], "paths": {"/query": {"post": described}}}


if __name__ == "__main__":
    url, agent, function = sys.argv[1:]
    bedrock = boto3.client("bedrock-agent")
    bedrock.create_agent_action_group(
        agentId=agent,
        agentVersion="DRAFT",
        actionGroupName="passage",
        actionGroupExecutor={"lambda": function},
        apiSchema={"payload": json.dumps(api_schema(url))},
    )
    print(bedrock.prepare_agent(agentId=agent)["agentStatus"])
