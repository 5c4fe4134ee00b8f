"""Who may ask: open, API key, IAM, JWT, CloudFront in front, a rate limit and a budget."""

import json
from typing import Any

import pytest

from template.cloudformation import PSEUDO, Refused, Stack, check, stacks
from template.options import CLOUDFRONT_CERTIFICATE, LEAST, OPTIONS

Made = dict[str, Stack]


def _methods(stack: Stack, api: str) -> dict[str, dict[str, Any]]:
    """The method of each path that is no preflight."""
    paths = stack[api]["Body"]["paths"]
    return {
        path: methods["x-amazon-apigateway-any-method"]
        for path, methods in paths.items()
        if len(methods) > 1 or path == "$default"
    }


def _preflights(stack: Stack, api: str) -> list[dict[str, Any]]:
    return [methods["options"] for methods in stack[api]["Body"]["paths"].values() if "options" in methods]


@pytest.mark.parametrize(
    ("option", "security"), [("default", []), ("api-key", [{"api_key": []}]), ("iam", [{"iam": []}])]
)
def test_rest_api_asks_for_what_access_says(option: str, security: list[Any], made: Made) -> None:
    methods = _methods(made[option], "RestApi")
    assert set(methods) == {"/", "/{proxy+}"}
    assert all(method["security"] == security for method in methods.values())
    assert not any("security" in preflight for preflight in _preflights(made[option], "RestApi"))


@pytest.mark.parametrize(("option", "api"), [("iam", "RestApi"), ("iam-http-api", "HttpApi")])
def test_scheme_iam_is_a_signature(option: str, api: str, made: Made) -> None:
    scheme = made[option][api]["Body"]["components"]["securitySchemes"]["iam"]
    assert scheme["x-amazon-apigateway-authtype"] == "awsSigv4"


def test_http_api_with_tokens_checks_issuer_and_audience(made: Made) -> None:
    body = made["jwt"]["HttpApi"]["Body"]
    authorizer = body["components"]["securitySchemes"]["jwt"]["x-amazon-apigateway-authorizer"]
    assert authorizer["jwtConfiguration"] == {"issuer": OPTIONS["jwt"]["JwtIssuer"], "audience": ["site", "app"]}
    assert _methods(made["jwt"], "HttpApi")["$default"]["security"] == [{"jwt": []}]


def test_http_api_with_iam_asks_for_a_signature(made: Made) -> None:
    assert _methods(made["iam-http-api"], "HttpApi")["$default"]["security"] == [{"iam": []}]


@pytest.mark.parametrize("option", ["http-api", "iam-http-api", "jwt"])
def test_http_api_answers_preflights_without_a_token(option: str, made: Made) -> None:
    preflights = _preflights(made[option], "HttpApi")
    assert len(preflights) == 2
    assert not any("security" in preflight for preflight in preflights)


def test_open_http_api_has_no_authorizer(made: Made) -> None:
    body = made["http-api"]["HttpApi"]["Body"]
    assert "components" not in body
    assert "security" not in _methods(made["http-api"], "HttpApi")["$default"]


def test_function_url_with_iam_is_not_public(made: Made) -> None:
    stack = made["iam-function-url"]
    assert stack["RetrievalFunctionUrl"]["AuthType"] == "AWS_IAM"
    assert not [each for each in stack.of_type("Lambda::Permission").values() if each["Principal"] == "*"]
    assert made["function-url"]["RetrievalFunctionUrl"]["AuthType"] == "NONE"


@pytest.mark.parametrize("option", OPTIONS)
def test_function_url_never_stands_beside_an_api(option: str, made: Made) -> None:
    """It has no throttle, no key and no WAF."""
    stack = made[option]
    assert not (
        stack.of_type("Lambda::Url") and (stack.of_type("ApiGateway::RestApi") or stack.of_type("ApiGatewayV2::Api"))
    )


def test_api_key_has_a_monthly_quota(made: Made) -> None:
    assert made["api-key"]["UsagePlan"]["Quota"] == {"Limit": "100000", "Period": "MONTH"}
    assert "Quota" not in made["cloudfront"]["UsagePlan"], "the key is all readers' together"


def test_the_firewall_counts_by_address_and_is_the_stages(made: Made) -> None:
    (rule,) = made["firewall"]["WebAcl"]["Rules"]
    assert rule["Statement"]["RateBasedStatement"] == {"AggregateKeyType": "IP", "Limit": "300"}
    # No custom response: the API's own has CORS headers, a custom one of WAF has none.
    assert rule["Action"] == {"Block": {}}
    association = made["firewall"]["WebAclAssociation"]["ResourceArn"]
    assert association.endswith("/restapis/${RestApi}/stages/${RestApiliveStage}")


def test_the_firewall_samples_and_logs_what_it_blocks(made: Made) -> None:
    acl, logging = made["firewall"]["WebAcl"], made["firewall"]["WebAclLogging"]
    assert [each["VisibilityConfig"]["SampledRequestsEnabled"] for each in (acl, *acl["Rules"])] == [True, True]
    assert made["firewall"]["WebAclLogGroup"]["LogGroupName"].startswith("aws-waf-logs-"), "WAF accepts no other name"
    assert logging["LoggingFilter"]["DefaultBehavior"] == "DROP"
    assert {"QueryString": {}} in logging["RedactedFields"], "a GET has the question in it"


def test_cloudfront_is_the_only_way_to_the_api(made: Made) -> None:
    stack = made["cloudfront"]
    assert stack["RestApi"]["Body"].get("x-amazon-apigateway-endpoint-configuration", stack["RestApi"])
    assert json.dumps(stack["RestApi"]).count('isableExecuteApiEndpoint": true') == 1
    assert all(method["security"] == [{"api_key": []}] for method in _methods(stack, "RestApi").values())
    (header,) = stack["Distribution"]["DistributionConfig"]["Origins"][0]["OriginCustomHeaders"]
    assert header["HeaderName"] == "x-api-key"
    # The key is in no parameter and in no template: both read the same secret.
    assert stack["ApiKey"]["Value"] == "{{resolve:secretsmanager:${OriginKey}:SecretString}}"
    assert header["HeaderValue"] == "{{resolve:secretsmanager:${OriginKeyArn}:SecretString}}"


def test_cloudfront_limits_by_an_address_it_writes_itself(made: Made) -> None:
    """A caller can send any X-Forwarded-For, so AWS WAF must not count by it."""
    (rule,) = made["cloudfront"]["WebAcl"]["Rules"]
    limit = rule["Statement"]["RateBasedStatement"]
    header = limit["ForwardedIPConfig"]["HeaderName"]
    assert (limit["AggregateKeyType"], header) == ("FORWARDED_IP", "x-viewer-address")
    assert f"headers['{header}'] = {{ value: event.viewer.ip }}" in made["cloudfront"]["ViewerAddress"]["FunctionCode"]


def test_cloudfront_serves_the_domain_and_caches_nothing(made: Made) -> None:
    distribution = made["cloudfront"]["Distribution"]["DistributionConfig"]
    assert distribution["Aliases"] == ["api.example.com"]
    # The id of AWS's policy AllViewer. Only some policy like it sends the header that the function adds, and Host.
    assert distribution["DefaultCacheBehavior"]["OriginRequestPolicyId"] == "216adef6-5c7f-47e4-b989-5492eafa07d3"
    assert distribution["ViewerCertificate"]["AcmCertificateArn"] == CLOUDFRONT_CERTIFICATE
    assert distribution["Origins"][0]["DomainName"] == {"Fn::GetAtt": ["Domain", "RegionalDomainName"]}
    assert "POST" in distribution["DefaultCacheBehavior"]["AllowedMethods"]
    # https-only: a redirect would turn a question's POST into a GET.
    assert distribution["DefaultCacheBehavior"]["ViewerProtocolPolicy"] == "https-only"
    assert made["cloudfront"].outputs["DomainTarget"]["Value"] == {"Fn::GetAtt": ["Front", "Outputs.DomainName"]}


@pytest.mark.parametrize(
    ("option", "api", "path"), [("domain", "RestApi", "docs-api"), ("domain-http-api", "HttpApi", None)]
)
def test_a_domain_maps_to_each_kind_of_api(option: str, api: str, path: str | None, made: Made) -> None:
    mapping = made[option]["DomainMapping"]
    assert (mapping["ApiId"], mapping.get("ApiMappingKey")) == ({"Ref": api}, path)
    assert made[option].outputs["DomainTarget"]["Value"] == {"Fn::GetAtt": ["Domain", "RegionalDomainName"]}
    assert made[option].outputs["ApiUrl"]["Value"] == "https://api.example.com" + (f"/{path}" if path else "")
    assert "isableExecuteApiEndpoint" in json.dumps(made[option][api])


def test_base_path_of_two_levels_keeps_both() -> None:
    two = stacks({"two": {**OPTIONS["domain"], "BasePath": "/docs/api"}})["two"]
    assert two["DomainMapping"]["ApiMappingKey"] == "docs/api"


def test_budget_warns_the_alarms_address(made: Made) -> None:
    budget = made["budget"]["Budget"]
    assert budget["Budget"]["BudgetLimit"] == {"Amount": "20", "Unit": "USD"}
    kinds = [each["Notification"]["NotificationType"] for each in budget["NotificationsWithSubscribers"]]
    assert kinds == ["ACTUAL", "FORECASTED"]
    addresses = {sub["Address"] for each in budget["NotificationsWithSubscribers"] for sub in each["Subscribers"]}
    assert addresses == {"someone@example.com"}


@pytest.mark.parametrize("option", ["function-url", "cloudfront", "budget"])
@pytest.mark.parametrize("partition", ["aws-cn", "aws-us-gov"])
def test_commercial_options_are_refused_elsewhere(option: str, partition: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PSEUDO, "AWS::Partition", partition)
    check(LEAST)
    with pytest.raises(Refused, match=r"China and GovCloud|commercial regions"):
        check(OPTIONS[option])


@pytest.mark.parametrize("option", OPTIONS)
def test_every_api_has_its_url_as_an_output(option: str, made: Made) -> None:
    has_api = any(made[option].of_type(kind) for kind in ("ApiGateway::RestApi", "ApiGatewayV2::Api", "Lambda::Url"))
    assert ("ApiUrl" in made[option].outputs) == has_api
