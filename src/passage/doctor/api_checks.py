"""Checks of an API: reachable, keyed, ready, its collections, CORS as a browser sees it, and a question end to end."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from urllib.parse import urlsplit

from handler.config.payload_keys import open_object
from passage.api import Api, ApiReply, HttpApi, Request, Unreachable
from passage.doctor.findings import CheckOptions, Finding, failed, none_failed, ok, skipped, warning

SLOW_MS = 2_000
"""Seed 003 warns of an answer that takes longer."""

FOREIGN_ORIGIN = "https://not-your-site.example"

DEFAULT_ADVICE = "The message says what to change; docs/operations.md explains each error code."
STATUS_ADVICE: Mapping[int, str] = {
    401: "The API wants a token: send one that its authorizer accepts.",
    403: "The API wants its key: put it into PASSAGE_API_KEY or a file (--api-key-file).",
    404: "The address has another base path: take the URL from the stack's outputs, or set BASE_PATH.",
    429: "The API's throttle or the model's rate limit refused it: wait, or raise ThrottleRate.",
    502: "The function did not start or its answer is unreadable: read its log (make logs).",
    503: "A service behind the function is unavailable: the message names it.",
    504: "A service behind the function is too slow: see docs/operations.md, slow questions.",
}


def checks(api: Api, asked: CheckOptions) -> Iterator[Finding]:
    """All checks, each after those that it depends on. They stop if `/health` does not answer."""
    try:
        health = api.ask(Request("GET", "/health"))
    except Unreachable as error:
        yield failed("reachable", f"{error}.", "Check the URL, DNS, and that the stack is deployed.")
        return
    if health.status != 200:
        yield _refusal("reachable", health)
        return
    yield ok("reachable", f"/health answered in {health.milliseconds:.0f} ms.")
    yield from _guard(_key, api, asked)
    yield from _guard(_cors, api, asked)
    for check in (_ready, _collections):
        findings = list(_guard(check, api, asked))
        yield from findings
        if not none_failed(findings):
            yield skipped("question", "No question was asked.", "Repair what failed first, then check again.")
            return
    yield from _guard(_question, api, asked)


def _guard(check: Callable[[Api, CheckOptions], Iterator[Finding]], api: Api, asked: CheckOptions) -> Iterator[Finding]:
    try:
        yield from check(api, asked)
    except Unreachable as error:
        yield failed(check.__name__.strip("_"), f"{error}.", "The API answered before: try again, then read its log.")


def _key(api: Api, _: CheckOptions) -> Iterator[Finding]:
    if isinstance(api, HttpApi) and api.key:
        reply = api.without_key().ask(Request("GET", "/profiles"))
        if reply.status in (401, 403):
            yield ok("key", "Requests without the key are refused.")
        elif reply.status == 200:
            yield warning(
                "key",
                "A request without the key is answered, too.",
                "Require the key in the template's parameters, or use none.",
            )


def _ready(api: Api, _: CheckOptions) -> Iterator[Finding]:
    reply = api.ask(Request("GET", "/ready"))
    body = reply.json()
    if reply.status != 200 or not isinstance(body, Mapping):
        yield _refusal("ready", reply)
        return
    about = body.get("collection")
    if not isinstance(about, Mapping):
        yield _other_service("ready", "/ready")
        return
    yield ok(
        "ready",
        f"Profile '{body.get('profile')}', collection '{about.get('name')}', {about.get('points_count')} points, "
        f"{about.get('vector_size')} dimensions.",
    )
    for note in about.get("notes", ()):
        yield warning("ready", str(note), "docs/search.md says what a search by words needs.")


def _collections(api: Api, asked: CheckOptions) -> Iterator[Finding]:
    """Each profile that the deployment lists. Profiles other than the default one may have no collection on purpose."""
    reply = api.ask(Request("GET", "/profiles"))
    listed = reply.json()
    if reply.status != 200 or not isinstance(listed, Mapping):
        yield _refusal("profiles", reply)
        return
    try:
        names, default = [each["name"] for each in listed["profiles"]], listed["default"]
    except (KeyError, TypeError):
        yield _other_service("profiles", "/profiles")
        return
    if asked.profile is not None and asked.profile not in names:
        yield failed(
            "profiles",
            f"There is no profile '{asked.profile}', or no index for it.",
            f"Choose one of: {', '.join(names)}.",
        )
        return
    without = []
    for name in names:
        wanted = name == (asked.profile or default)
        described = api.ask(Request("GET", f"/profiles/{name}/collection"))
        body = described.json()
        if described.status == 200 and isinstance(body, Mapping):
            yield from _fit(name, body.get("problems", []), wanted=wanted)
        elif wanted:
            yield _refusal("collection", described)
        else:
            without.append(name)
    if without:
        yield ok("profiles", f"Without a collection, so they cannot be asked: {', '.join(without)}.")


def _fit(name: str, problems: Sequence[str], *, wanted: bool) -> Iterator[Finding]:
    """Whether a collection fits its profile. A profile that is not `wanted` only warns."""
    state = failed if wanted else warning
    for problem in problems:
        yield state("collection", f"{name}: {problem}", "Index the site again for this profile, or change it.")
    if wanted and not problems:
        yield ok("collection", f"{name}: its collection fits the profile.")


def _cors(api: Api, asked: CheckOptions) -> Iterator[Finding]:
    """A browser reads an answer only if its origin is allowed (Fetch standard, CORS protocol)."""
    if asked.origin is None:
        yield skipped("CORS", "No site was named.", "Give your site's address: --origin https://docs.example.com")
        return
    if not _is_origin(asked.origin):
        yield failed(
            "CORS", f"'{asked.origin}' is not an origin.", "Give scheme and host alone: https://docs.example.com"
        )
        return
    allowed = _allows(_from(api, asked.origin), asked.origin)
    wanted = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"}
    preflight = api.ask(Request("OPTIONS", "/query", headers={"Origin": asked.origin, **wanted}))
    if not allowed or not _allows(preflight, asked.origin) or preflight.status >= 300:
        yield failed("CORS", f"A browser on {asked.origin} may not read answers.", "Add it to ALLOWED_ORIGINS.")
    else:
        yield ok("CORS", f"A browser on {asked.origin} may ask and read.")
    if _allows(_from(api, FOREIGN_ORIGIN), FOREIGN_ORIGIN):
        yield warning("CORS", "Every site may use this API.", "Name your sites in ALLOWED_ORIGINS instead of *.")


def _from(api: Api, origin: str) -> ApiReply:
    return api.ask(Request("GET", "/health", headers={"Origin": origin}))


def _is_origin(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:  # the text in brackets is not an IP address
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc) and not (parts.path or parts.query)


def _allows(reply: ApiReply, origin: str) -> bool:
    return reply.headers.get("access-control-allow-origin") in (origin, "*")


def _question(api: Api, asked: CheckOptions) -> Iterator[Finding]:
    path = f"/profiles/{asked.profile}/query" if asked.profile else "/query"
    reply = api.ask(Request("GET", path, {"question": asked.question}))
    body = reply.json()
    if reply.status != 200 or not isinstance(body, Mapping):
        yield _refusal("question", reply)
        return
    passages = body.get("results", body.get("chunks", []))
    if not passages:
        yield warning(
            "question", f"'{asked.question}' found nothing.", "Ask what your site answers: --question 'How do I …?'"
        )
    else:
        yield ok("question", f"'{asked.question}' found {len(passages)} passages in {reply.milliseconds:.0f} ms.")
    texts = [value for each in passages if isinstance(each, Mapping) for value in each.values()]
    if any(isinstance(text, str) and open_object(text) for text in texts):
        yield warning(
            "question",
            "A passage's text is a JSON object, as a library stored it.",
            "Name the text inside it in the profile's [payload], as in text = ['_node_content.text'].",
        )
    if reply.milliseconds > SLOW_MS:
        yield warning(
            "question",
            f"The answer took {reply.milliseconds / 1000:.1f} s.",
            "Ask again: a cold start costs a second or two. See docs/operations.md, slow questions.",
        )
    for each in body.get("warnings") or ():
        yield warning("question", str(each), "The answer is less than complete; see docs/operations.md.")


def _other_service(check: str, path: str) -> Finding:
    return failed(check, f"The answer of {path} is not Passage's.", "Check the URL: another service answers there.")


def _refusal(check: str, reply: ApiReply) -> Finding:
    """A failed check with the API's own words, which name the setting where one is wrong."""
    advice = STATUS_ADVICE.get(reply.status, DEFAULT_ADVICE)
    return failed(check, reply.fault, advice)
