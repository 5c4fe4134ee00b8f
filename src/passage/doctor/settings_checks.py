"""Checks of this machine's environment variables, for `passage doctor local`."""

from collections.abc import Iterator, Mapping

from handler.config import models, profiles
from handler.config.settings import HttpSettings, Settings
from handler.core.errors import PassageError
from passage.doctor.findings import Finding, failed, ok, warning


def checks(environ: Mapping[str, str]) -> Iterator[Finding]:
    """The function's settings and every profile, with the models that they name.

    Args:
        environ: the function's whole environment, as `passage serve` would make it.
    """
    try:
        settings = Settings.from_env(environ)
        HttpSettings.from_env(environ)
    except PassageError as error:
        yield failed("settings", str(error), "docs/configuration.md lists every variable.")
        return
    yield ok("settings", f"They are valid; STORE is {settings.store}.")
    for name in profiles.names():
        try:
            profile = profiles.load_with_settings(name, settings)
        except PassageError as error:
            state = failed if name == settings.default_profile else warning
            yield state("profile", f"{name}: {error}", f"Correct src/handler/config/profiles/{name}.toml.")
            continue
        model = models.find(profile.embedding.model)
        if name == settings.default_profile and model is not None and model.state != "active":
            state = failed if model.state == "retired" else warning
            yield state(
                "model",
                f"{model.name} is {model.state} since {model.since}.",
                f"Set EMBEDDING_MODEL={model.replacement} and index the site again.",
            )
