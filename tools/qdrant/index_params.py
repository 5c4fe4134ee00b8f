"""The options of a payload index: converts the API's JSON to the engine's objects and back."""

from __future__ import annotations  # the bindings' type names exist in their stubs only

from collections.abc import Callable, Mapping
from typing import Any

import qdrant_edge as edge

from tools.qdrant.errors import format_error, unsupported

_PARAMS: Mapping[str, Callable[..., edge.PayloadSchemaParams]] = {
    "keyword": edge.KeywordIndexParams,
    "integer": edge.IntegerIndexParams,
    "float": edge.FloatIndexParams,
    "geo": edge.GeoIndexParams,
    "text": edge.TextIndexParams,
    "bool": edge.BoolIndexParams,
    "datetime": edge.DatetimeIndexParams,
    "uuid": edge.UuidIndexParams,
}
_TOKENIZERS: Mapping[str, edge.TokenizerType] = {
    "prefix": edge.TokenizerType.Prefix,
    "whitespace": edge.TokenizerType.Whitespace,
    "word": edge.TokenizerType.Word,
    "multilingual": edge.TokenizerType.Multilingual,
    "code": edge.TokenizerType.Code,
}
_SHOWN = (
    "lowercase",
    "ascii_folding",
    "phrase_matching",
    "min_token_len",
    "max_token_len",
    "is_tenant",
    "prefix",
    "on_disk",
)


def parse_params(kind: str, schema: Mapping[str, Any]) -> edge.PayloadSchemaParams:
    """The engine's options for an index of a kind, from `field_schema`."""
    given = {name: value for name, value in schema.items() if name != "type" and value is not None}
    params = {name: _READERS[name](value) if name in _READERS else value for name, value in given.items()}
    try:
        return _PARAMS[kind](**params)
    except TypeError as error:
        raise unsupported(f"one of {', '.join(params)} in a {kind} index", ["the engine's own parameters"]) from error


def params_json(kind: str, params: Any) -> dict[str, object]:
    """The options of an index as collection info shows them."""
    shown: dict[str, object] = {"type": kind}
    shown |= {name: value for name in _SHOWN if (value := getattr(params, name, None)) is not None}
    if kind == "text":
        names = {str(tokenizer): name for name, tokenizer in _TOKENIZERS.items()}
        shown["tokenizer"] = names[str(params.tokenizer)]
        if params.scoring is not None:
            shown["scoring"] = bool(params.scoring)
        if isinstance(params.stemmer, edge.SnowballParams):
            shown["stemmer"] = {"type": "snowball", "language": _name(params.stemmer.language)}
        if isinstance(params.stopwords, edge.StopwordsSet):
            stopwords = params.stopwords
            shown["stopwords"] = {
                "languages": sorted(map(_name, stopwords.languages or ())),
                "custom": sorted(stopwords.custom or ()),
            }
    return shown


def _tokenizer(value: Any) -> edge.TokenizerType:
    if value not in _TOKENIZERS:
        raise format_error(f"unknown variant `{value}`, expected one of {', '.join(_TOKENIZERS)}")
    return _TOKENIZERS[value]


def _stemmer(value: Any) -> Any:
    kind = value.get("type") if isinstance(value, dict) else None
    if kind == "snowball":
        return edge.SnowballParams(_enum(edge.SnowballLanguage, value.get("language")))
    if kind in ("none", "disabled"):
        return edge.DisabledStemmer()
    raise format_error(f"unknown stemmer {value}, expected a map of type snowball or none")


def _stopwords(value: Any) -> Any:
    if isinstance(value, str):
        return edge.StopwordsSet(languages={_enum(edge.Language, value)})
    if not isinstance(value, dict):
        raise format_error("stopwords is a language or a map with languages and custom")
    languages = {_enum(edge.Language, one) for one in value.get("languages") or ()}
    return edge.StopwordsSet(languages=languages, custom=set(value.get("custom") or ()))


def _enum(kind: Any, name: object) -> Any:
    """The engine's enum member for the API's name of it, as in `english`."""
    member = getattr(kind, str(name).title(), None)
    if member is None:
        raise format_error(f"unknown variant `{name}` of {kind.__name__}")
    return member


def _name(member: object) -> str:
    return str(member).rpartition(".")[2].lower()


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "tokenizer": _tokenizer,
    "stemmer": _stemmer,
    "stopwords": _stopwords,
    "scoring": bool,
}
