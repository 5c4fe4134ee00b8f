"""The languages whose words Qdrant can reduce to their stems."""

from collections.abc import Mapping

DEFAULT = "english"
"""The language of a site that states none: the default of the common generators."""

STEMMED: Mapping[str, str] = {
    "ar": "arabic",
    "da": "danish",
    "nl": "dutch",
    "en": "english",
    "fi": "finnish",
    "fr": "french",
    "de": "german",
    "el": "greek",
    "hu": "hungarian",
    "it": "italian",
    "no": "norwegian",
    "nb": "norwegian",
    "nn": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "es": "spanish",
    "sv": "swedish",
    "tr": "turkish",
}
"""Languages with a stemmer and a list of stop words in Qdrant, by their ISO 639-1 code."""
