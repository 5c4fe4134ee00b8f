"""Reads mkdocs.yml: YAML with MkDocs' own tags. No tag runs code here."""

from pathlib import Path
from typing import Any

import yaml
from markdown.extensions.toc import slugify as toc_slugify
from markdown.extensions.toc import slugify_unicode
from pymdownx import slugs

from passage.sites.model import SiteError

_DEEPEST = 8
"""The most levels of configurations that INHERIT another one."""

_FUNCTIONS = {
    "markdown.extensions.toc.slugify": toc_slugify,
    "markdown.extensions.toc.slugify_unicode": slugify_unicode,
    "pymdownx.slugs.uslugify": slugs.slugify(case="lower"),
    "pymdownx.slugs.uslugify_cased": slugs.slugify(),
}
"""Functions that a configuration may name with `!!python/name:`; they determine the form of anchors."""


class Unknown:
    """A value that only MkDocs and its plugins can make."""


UNKNOWN = Unknown()


class _Loader(yaml.SafeLoader):
    """Plain values only; a tag that names Python code gives a known function or `UNKNOWN`."""


def load(file: Path, depth: int = 0) -> dict[Any, Any]:
    """The configuration, merged with the files that it INHERITs.

    Raises:
        SiteError: a file cannot be read or is not YAML.
    """
    try:
        loaded = yaml.load(file.read_text(encoding="utf-8-sig"), Loader=_Loader)  # noqa: S506 - a SafeLoader
    except (yaml.YAMLError, RecursionError, ValueError, TypeError) as error:
        raise SiteError(f"{file} cannot be read: {' '.join(str(error).split())}") from error
    except OSError as error:
        raise SiteError(f"{file} cannot be read: {error.strerror}") from error
    config = loaded if isinstance(loaded, dict) else {}
    parent = config.pop("INHERIT", None)
    if isinstance(parent, str) and depth < _DEEPEST:
        return _merge(load(file.parent / parent, depth + 1), config)
    return config


def _merge(below: dict[Any, Any], above: dict[Any, Any]) -> dict[Any, Any]:
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        merged[key] = _merge(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged


def _name(_: _Loader, suffix: str, __: yaml.Node) -> Any:
    return _FUNCTIONS.get(suffix, UNKNOWN)


def _apply(loader: _Loader, suffix: str, node: yaml.Node) -> Any:
    """`!!python/object/apply:pymdownx.slugs.slugify` with `kwds: {case: lower}`: a slug function."""
    if suffix != "pymdownx.slugs.slugify" or not isinstance(node, yaml.MappingNode):
        return UNKNOWN
    given = loader.construct_mapping(node, deep=True).get("kwds")
    kwds = {str(key): value for key, value in given.items()} if isinstance(given, dict) else {}
    try:
        return slugs.slugify(**kwds)
    except TypeError:
        return UNKNOWN


def _environment(loader: _Loader, node: yaml.Node) -> Any:
    """`!ENV [NAME, default]`: the default, because the environment here is not the build's."""
    if isinstance(node, yaml.SequenceNode) and len(node.value) > 1:
        return loader.construct_object(node.value[-1], deep=True)
    return None


def _unknown(_: _Loader, __: str, ___: yaml.Node) -> Unknown:
    return UNKNOWN


_Loader.add_multi_constructor("tag:yaml.org,2002:python/name:", _name)
_Loader.add_multi_constructor("tag:yaml.org,2002:python/object/apply:", _apply)
_Loader.add_multi_constructor("", _unknown)
_Loader.add_multi_constructor("!", _unknown)
_Loader.add_constructor("!ENV", _environment)
