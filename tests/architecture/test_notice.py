"""NOTICE names every package in the layer, its licence, and whether the build changes it."""

import re
import tomllib
from importlib.metadata import Distribution, distribution

from conftest import ROOT

LAYER = ROOT / "layers" / "dependencies"
LISTED = {
    name: (licence, bool(changed))
    for name, licence, changed in re.findall(
        r"^- ([\w-]+): ([\w.-]+)(, changed)?$", (ROOT / "NOTICE").read_text(encoding="utf-8"), re.MULTILINE
    )
}
PINNED = re.findall(r"^([\w-]+)==", (LAYER / "requirements.txt").read_text(encoding="utf-8"), re.MULTILINE)


def _licences(package: Distribution) -> str:
    """What a package's metadata says about its licence."""
    about = package.metadata
    fields = [*(about.get_all("License-Expression") or []), *(about.get_all("License") or [])]
    return " ".join([*fields, *(about.get_all("Classifier") or [])])


def test_notice_names_each_package_of_the_layer() -> None:
    assert sorted(LISTED) == sorted(PINNED)


def test_notice_names_the_licence_of_each_package() -> None:
    assert [name for name in PINNED if LISTED[name][0] not in _licences(distribution(name))] == []


def test_notice_says_which_packages_are_changed() -> None:
    changes = tomllib.loads((LAYER / "prune.toml").read_text(encoding="utf-8"))
    named = (*changes["stubs"], *changes["lazy"], *changes["removed"], *changes["edits"])
    changed = {re.split(r"[./]", each)[0].replace("_", "-") for each in named}
    assert {name for name, (_, is_changed) in LISTED.items() if is_changed} == changed & set(PINNED)
    assert all(name in (ROOT / "NOTICE").read_text(encoding="utf-8") for name in changed)


def test_each_package_ships_its_licence() -> None:
    """In its wheel, or beside the recipe, which adds it."""
    without = {
        name
        for name in PINNED
        if not any("dist-info" in str(file) and "LICENSE" in file.name for file in distribution(name).files or ())
    }
    assert without == {path.stem for path in LAYER.glob("*.LICENSE")}
    recipe = (LAYER / "Makefile").read_text(encoding="utf-8")
    assert all(f"cp {name}.LICENSE" in recipe for name in without)
