"""The templates themselves: in step with the function's settings, every parameter described."""

import json
import re
import tomllib

import pytest
import yaml

from conftest import ROOT
from handler.config.settings import HttpSettings, Settings, names
from template.cloudformation import expanded
from template.options import OPTIONS, made

TEMPLATES = ["template.yaml", *(path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "stacks").glob("*.yaml")))]


def test_nested_outputs_that_the_root_uses_exist() -> None:
    pattern = r'\["(\w+)", "(Outputs\.\w+)"\]|\$\{(\w+)\.(Outputs\.\w+)\}'
    used = set()
    for stack in map(made, OPTIONS):
        found = re.findall(pattern, json.dumps([stack.root, stack.outputs]))
        here = {f"{a or c}.{b or d}".replace("Outputs.", "") for a, b, c, d in found}
        assert here <= stack.outputs.keys()
        used |= here
    assert {"Monitoring.DashboardName", "Messages.DeadLetterQueueName"} <= used


def test_deploy_uploads_templates_and_may_create_nested_stacks() -> None:
    """Sent directly, a template may have 51,200 bytes, and this one has more."""
    config = tomllib.loads((ROOT / "samconfig.toml").read_text(encoding="utf-8"))
    for name in ("dev", "staging", "prod"):
        deploy = config[name]["deploy"]["parameters"]
        assert deploy["resolve_s3"]
        assert "CAPABILITY_AUTO_EXPAND" in deploy["capabilities"].split()


def test_no_template_has_yaml_anchors() -> None:
    """CloudFormation takes none."""
    tokens = [token for name in TEMPLATES for token in yaml.scan((ROOT / name).read_text(encoding="utf-8"))]
    assert not [token for token in tokens if isinstance(token, yaml.AnchorToken | yaml.AliasToken)]


def _variables(option: str) -> dict[str, str]:
    """The function's variables. A reference to another resource becomes a value of the right form."""
    referred = {"ReplyQueueUrl": "https://sqs.eu-central-1.amazonaws.com/111122223333/replies", "ReplyTable": "sent"}
    return {
        name: referred[value["Fn::GetAtt"][1].removeprefix("Outputs.")] if isinstance(value, dict) else value
        for name, value in made(option)["RetrievalFunction"]["Environment"]["Variables"].items()
    }


@pytest.mark.parametrize("option", OPTIONS)
def test_function_accepts_the_templates_variables(option: str) -> None:
    environ = _variables(option)
    assert environ.keys() <= names()
    HttpSettings.from_env(environ)
    service = Settings.from_env(environ).service
    assert service == "passage-test", "two deployments in one account must not share their metrics"


def test_an_empty_parameter_leaves_the_setting_at_its_default() -> None:
    given, unset = (
        Settings.from_env(_variables("default")),
        Settings.from_env({"QDRANT_URL": "https://cluster.example"}),
    )
    different = {name for name in Settings.model_fields if getattr(given, name) != getattr(unset, name)}
    assert different == {"service", "providers"}
    assert HttpSettings.from_env(_variables("default")) == HttpSettings.from_env({})


def test_parameters_are_at_most_45_bounded_described_and_grouped() -> None:
    """What creates no resource and needs no permission is one of `Settings`. None is required but by a rule."""
    template = expanded()
    parameters = template["Parameters"]
    bounds = {"AllowedValues", "AllowedPattern", "MinValue", "MinLength"}
    text = "".join((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("deploy.md", "sources.md"))
    assert len(parameters) <= 45
    for name, parameter in parameters.items():
        assert bounds & parameter.keys(), name
        assert {"Default", "Description"} <= parameter.keys(), name
        assert f"`{name}" in text, name
    groups = template["Metadata"]["AWS::CloudFormation::Interface"]["ParameterGroups"]
    assert sorted(name for group in groups for name in group["Parameters"]) == sorted(parameters)
    labels = [group["Label"]["default"] for group in groups]
    assert (labels[0], labels[-1]) == ("First deployment", "Messages"), "few need the last"
    assert len(groups[0]["Parameters"]) <= 6


def test_only_four_resources_have_no_condition() -> None:
    always = {name for name, resource in expanded()["Resources"].items() if "Condition" not in resource}
    kinds = ("Lambda::Version", "Lambda::Alias", "Lambda::LayerVersion")
    made_by_sam = {name for kind in kinds for name in made("default").of_type(kind)}
    assert always - made_by_sam == {"RetrievalFunction", "RetrievalRole", "RetrievalLogGroup"}
