"""The templates themselves: valid, in step with the function's settings, every parameter described."""

import json
import re
import subprocess
import tomllib
from typing import Any

import pytest
import yaml

from conftest import ROOT
from handler.config.settings import HttpSettings, Settings, names
from template.cloudformation import Stack
from template.options import OPTIONS

NESTED = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "stacks").glob("*.yaml"))
LACKING = {
    "us-gov-west-1": {"stacks/budget.yaml", "stacks/cloudfront.yaml", "stacks/function-url.yaml"},
    "cn-northwest-1": {"stacks/cloudfront.yaml", "stacks/function-url.yaml"},
    "eusc-de-east-1": set(),
}
"""Regions of the other partitions, and the stacks with a resource type that they lack."""


class _Loader(yaml.SafeLoader):
    """Reads CloudFormation's short forms (`!Ref`, `!Sub`) as their values."""


def _plain(loader: yaml.SafeLoader, _: str, node: yaml.Node) -> Any:
    if isinstance(node, yaml.ScalarNode):
        return loader.construct_scalar(node)
    return loader.construct_sequence(node, deep=True) if isinstance(node, yaml.SequenceNode) else None


_Loader.add_multi_constructor("!", _plain)


def _read(name: str) -> dict[str, Any]:
    text = (ROOT / name).read_text(encoding="utf-8")
    return dict(yaml.load(text, Loader=_Loader))  # noqa: S506 - a SafeLoader's subclass


@pytest.fixture(scope="module")
def template() -> dict[str, Any]:
    return _read("template.yaml")


@pytest.mark.parametrize(("region", "lacking"), LACKING.items())
def test_cfn_lint_accepts_the_templates_in_a_region(region: str, lacking: set[str]) -> None:
    """CloudFormation refuses a type that a region lacks even under a false condition. SAM lints the root alone."""
    command = [str(ROOT / ".venv-sam" / "bin" / "cfn-lint"), "--regions", region, "--format", "parseable", "--"]
    done = subprocess.run([*command, "template.yaml", *NESTED], capture_output=True, text=True, cwd=ROOT, check=False)
    found = [line.split(":") for line in done.stdout.splitlines()]
    assert {line[0] for line in found} == lacking, done.stdout + done.stderr
    assert all("E3006" in line for line in found), "of types that do not exist there"


def test_every_nested_template_is_a_stack(template: dict[str, Any]) -> None:
    stacks = [each["Properties"] for each in template["Resources"].values() if "Stack" in each["Type"].split("::")]
    assert sorted(stack["TemplateURL"] for stack in stacks) == sorted(NESTED)


def test_nested_outputs_that_the_root_uses_exist(made: dict[str, Stack]) -> None:
    for stack in made.values():
        text = json.dumps([stack.resources, stack.outputs])
        pattern = r'\["(\w+)", "Outputs\.(\w+)"\]|\$\{(\w+)\.Outputs\.(\w+)\}'
        used = {(a or c, b or d) for a, b, c, d in re.findall(pattern, text)}
        assert used <= {(name, output) for name, nested in stack.nested.items() for output in nested.outputs}
    assert "Monitoring.Outputs.DashboardName" in json.dumps(made["default"].outputs)
    assert "Outputs.DeadLetterQueueName" in json.dumps(made["topic"].resources)


def test_deploy_uploads_templates_and_may_create_nested_stacks() -> None:
    """Sent directly, a template may have 51,200 bytes, and this one has more."""
    config = tomllib.loads((ROOT / "samconfig.toml").read_text(encoding="utf-8"))
    for name in ("dev", "staging", "prod"):
        deploy = config[name]["deploy"]["parameters"]
        assert deploy["resolve_s3"]
        assert "CAPABILITY_AUTO_EXPAND" in deploy["capabilities"].split()


@pytest.mark.parametrize("name", ["template.yaml", *NESTED])
def test_a_template_is_as_cloudformation_takes_it(name: str) -> None:
    """No YAML anchors, and every parameter described."""
    tokens = yaml.scan((ROOT / name).read_text(encoding="utf-8"))
    assert not [token for token in tokens if isinstance(token, yaml.AnchorToken | yaml.AliasToken)]
    parameters = _read(name)["Parameters"]
    assert [key for key, parameter in parameters.items() if not parameter.get("Description")] == []


@pytest.mark.parametrize("option", OPTIONS)
def test_function_accepts_the_templates_variables(option: str, made: dict[str, Stack]) -> None:
    """A reference to another resource stands for a value of the right form."""
    given = made[option]["RetrievalFunction"]["Environment"]["Variables"]
    assert given.keys() <= names()
    referred = {
        "Outputs.ReplyQueueUrl": "https://sqs.eu-central-1.amazonaws.com/111122223333/replies",
        "Outputs.ReplyTable": "sent-replies",
    }
    environ = {
        name: referred[value["Fn::GetAtt"][1]] if isinstance(value, dict) else value for name, value in given.items()
    }
    settings = Settings.from_env(environ)
    HttpSettings.from_env(environ)
    assert settings.service == "passage-test", "two deployments in one account must not share their metrics"


def test_an_empty_parameter_leaves_the_setting_at_its_default(made: dict[str, Stack]) -> None:
    environ = made["default"]["RetrievalFunction"]["Environment"]["Variables"]
    given, unset = Settings.from_env(environ), Settings.from_env({"QDRANT_URL": "https://cluster.example"})
    different = {name for name in Settings.model_fields if getattr(given, name) != getattr(unset, name)}
    assert different == {"service", "providers"}
    assert HttpSettings.from_env(environ) == HttpSettings.from_env({})


def test_settings_reach_the_function(made: dict[str, Stack]) -> None:
    settings = Settings.from_env(made["settings"]["RetrievalFunction"]["Environment"]["Variables"])
    assert (settings.rerank_provider, settings.rerank_candidates) == ("cohere", 100)
    assert settings.mcp_description == "robots, arms"


def test_parameters_are_at_most_45_bounded_and_documented(template: dict[str, Any]) -> None:
    """What creates no resource and needs no permission is one of `Settings`. None is required but by a rule."""
    parameters = template["Parameters"]
    bounds = {"AllowedValues", "AllowedPattern", "MinValue", "MinLength"}
    text = "".join((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("deploy.md", "sources.md"))
    assert len(parameters) <= 45
    assert [name for name, parameter in parameters.items() if not bounds & parameter.keys()] == []
    assert [name for name, parameter in parameters.items() if "Default" not in parameter] == []
    assert [name for name in parameters if f"`{name}" not in text] == []


def test_console_shows_six_parameters_first_and_groups_all(template: dict[str, Any]) -> None:
    groups = template["Metadata"]["AWS::CloudFormation::Interface"]["ParameterGroups"]
    assert sorted(name for group in groups for name in group["Parameters"]) == sorted(template["Parameters"])
    assert groups[0]["Label"]["default"] == "First deployment"
    assert len(groups[0]["Parameters"]) <= 6
    assert groups[-1]["Label"]["default"] == "Messages", "few need them"


def test_only_four_resources_have_no_condition(template: dict[str, Any]) -> None:
    always = {name for name, resource in template["Resources"].items() if "Condition" not in resource}
    assert always == {"RetrievalFunction", "RetrievalRole", "RetrievalLogGroup", "DependenciesLayer"}
