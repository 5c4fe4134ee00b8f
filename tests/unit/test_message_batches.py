"""Nothing is lost and nothing is answered twice: batches of messages, good and bad, with faults of every part.

The rule. After an invocation a message is either answered (every destination has its reply, once) or back in the queue
(not every destination was heard to have it). A destination can have a reply whose message is back all the same in one
case: the message has several destinations and a later one failed, or its own word that it had the reply was lost.
That reply comes once more, with the same id.
"""

import json
import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from entrypoints.aws import batch
from handler import app
from handler.bootstrap.container import Container
from handler.config.profiles import Profile
from handler.core.errors import ConfigurationError, DeadlineExceeded, UpstreamThrottled
from handler.core.model import Passage, Search, SearchResult, Vector
from handler.core.retrieve import Retriever
from handler.entrypoints.messaging.messages import read
from handler.service.replies import Reply
from unit.asking import ENVIRON, FixedEmbedder, FixedStore
from unit.pipelines import pipeline
from unit.strategies import anything, at_most, wild

bounded = settings(max_examples=at_most(150), deadline=None, suppress_health_check=[HealthCheck.too_slow])

FAULTS = ("throttled", "refused", "late", "unexpected")


def fail(fault: str) -> None:
    """Raise the error for `fault`. No error allows a retry, which would only wait."""
    match fault:
        case "throttled":
            raise UpstreamThrottled("later", upstream="store", retry_after=3600)
        case "refused":
            raise ConfigurationError("for the operator to fix")
        case "late":
            raise DeadlineExceeded("too late")
        case "unexpected":
            raise RuntimeError("a bug")


@dataclass
class Weather:
    """A part's outcomes, call by call: the faults in order, then success."""

    embedding: list[str] = field(default_factory=list)
    store: list[str] = field(default_factory=list)
    sending: list[str] = field(default_factory=list)


def taken(plan: list[str]) -> str:
    return plan.pop(0) if plan else "none"


@dataclass
class Embedder(FixedEmbedder):
    weather: Weather = field(default_factory=Weather)

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        fail(taken(self.weather.embedding))
        return super().embed(texts)


@dataclass
class Store(FixedStore):
    weather: Weather = field(default_factory=Weather)

    def search(self, searches: Sequence[tuple[Vector, Search]]) -> list[SearchResult]:
        fail(taken(self.weather.store))
        return [
            SearchResult((Passage(id=1, score=0.5, text="the text", url="https://site.example/"),)) for _ in searches
        ]


@dataclass
class Sink:
    """A destination with its replies' ids, groups and texts, in order."""

    weather: Weather
    had: list[tuple[str, str | None, str]] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        return 0.5

    def send(self, reply: Reply, *, group: str | None) -> None:
        fault = taken(self.weather.sending)
        if fault == "unheard":
            self.had.append((reply.id, group, reply.text))
            raise UpstreamThrottled("no word", upstream="reply")
        fail(fault)
        self.had.append((reply.id, group, reply.text))

    def count(self) -> Counter[str]:
        return Counter(identity for identity, _, _ in self.had)


class Services(Container):
    def __init__(self, destinations: int) -> None:
        super().__init__(ENVIRON)
        self.weather = Weather()
        self.sinks = [Sink(self.weather) for _ in range(destinations)]

    def retriever(self, profile: Profile) -> Retriever:
        embedder, store = Embedder(profile, weather=self.weather), Store(profile, weather=self.weather)
        return pipeline(embedder, store, dimension=profile.collection.dimension)

    @property
    def reply_sinks(self) -> list[Sink]:  # type: ignore[override]  # a cached property there
        return self.sinks


GOOD = ("query-response", "context", "chunks")
BODIES = {
    **{profile: {"profile": profile, "question": "twin"} for profile in GOOD},
    "blank": {"text": " "},
    "no such profile": {"text": "twin", "profile": "nowhere"},
    "unreadable": "{",
    "surrogate": '{"text": "\\ud800"}',
}


@dataclass(frozen=True)
class Sent:
    """A sent message. `group` is None in a standard queue."""

    number: int
    kind: str
    group: str | None

    @property
    def record(self) -> dict[str, Any]:
        body = BODIES[self.kind]
        groups = None if self.group is None else [self.group]
        record: dict[str, Any] = batch([body], groups, first=self.number)["Records"][0]
        return record

    @property
    def reply_id(self) -> str:
        return read(self.record["body"], str(self.number)).reply_id


@st.composite
def queues(draw: st.DrawFn) -> list[Sent]:
    fifo = draw(st.booleans())
    kinds = draw(st.lists(st.sampled_from(sorted(BODIES)), min_size=1, max_size=10))
    groups = [draw(st.sampled_from("abc")) if fifo else None for _ in kinds]
    return [Sent(number, kind, group) for number, (kind, group) in enumerate(zip(kinds, groups, strict=True), 1)]


plans = st.lists(st.sampled_from(("none", *FAULTS)), max_size=6)
sendings = st.lists(st.sampled_from(("none", "none", "unheard", *FAULTS)), max_size=20)


def handled(services: Services, event: Any) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(app, "services", services)
        return app.lambda_handler(event, None)


def invoke(services: Services, messages: Sequence[Sent]) -> set[int]:
    """Invoke the function once. Returns the numbers of the messages that return to the queue."""
    response = handled(services, {"Records": [message.record for message in messages]})
    numbers = [int(failure["itemIdentifier"]) for failure in response["batchItemFailures"]]
    assert len(numbers) == len(set(numbers))
    assert set(numbers) <= {message.number for message in messages}
    return set(numbers)


def under(services: Services, plan: tuple[list[str], list[str], list[str]]) -> Services:
    """The services, with pending faults."""
    services.weather.embedding[:], services.weather.store[:], services.weather.sending[:] = map(list, plan)
    return services


@given(queues(), st.integers(1, 3), plans, plans, sendings)
@bounded
def test_every_message_is_answered_once_or_back_in_the_queue(
    messages: list[Sent], destinations: int, embedding: list[str], store: list[str], sending: list[str]
) -> None:
    services = under(Services(destinations), (embedding, store, sending))
    unheard = "unheard" in sending
    back = invoke(services, messages)
    for message in messages:
        had = [sink.count()[message.reply_id] for sink in services.sinks]
        if message.number not in back:
            assert had == [1] * destinations, "answered: by every destination, once"
            continue
        assert had == sorted(had, reverse=True), "destinations are served in turn"
        assert set(had) <= {0, 1}
        if not unheard:
            assert had[-1] == 0, "not both answered and back"
    assert sum(len(sink.had) for sink in services.sinks) <= destinations * len(messages)


@given(queues(), st.integers(1, 2), plans, plans, sendings)
@bounded
def test_fifo_group_stops_after_a_returned_message(
    messages: list[Sent], destinations: int, embedding: list[str], store: list[str], sending: list[str]
) -> None:
    services = under(Services(destinations), (embedding, store, sending))
    back = invoke(services, messages)
    for group in "abc":
        own = [message for message in messages if message.group == group]
        stopped = next((place for place, message in enumerate(own) if message.number in back), len(own))
        assert {message.number for message in own[stopped:]} <= back
        for message in own[stopped + 1 :]:
            assert not any(sink.count()[message.reply_id] for sink in services.sinks)


@given(queues(), st.integers(1, 2), st.lists(st.tuples(plans, plans, sendings), max_size=4))
@bounded
def test_returned_messages_are_finally_answered_once(
    messages: list[Sent], destinations: int, weathers: list[tuple[list[str], list[str], list[str]]]
) -> None:
    services = Services(destinations)
    waiting, twice = list(messages), Counter[tuple[int, int]]()
    for plan in [*weathers, ([], [], [])]:
        under(services, plan)
        before = [sink.count() for sink in services.sinks]
        back = invoke(services, waiting) if waiting else set()
        for place, sink in enumerate(services.sinks):
            for message in waiting:
                if message.number in back:
                    had = sink.count()[message.reply_id] - before[place][message.reply_id]
                    twice[place, message.number] += had
        waiting = [message for message in waiting if message.number in back]
    assert waiting == [], "the last delivery met no fault"
    for place, sink in enumerate(services.sinks):
        had = sink.count()
        assert had.keys() == {message.reply_id for message in messages}
        for message in messages:
            assert had[message.reply_id] == 1 + twice[place, message.number]


@given(queues(), st.none() | st.sampled_from(FAULTS), st.sampled_from(["embedding", "store"]))
@bounded
def test_failure_returns_questions_and_refuses_none(messages: list[Sent], fault: str | None, part: str) -> None:
    services = Services(1)
    getattr(services.weather, part)[:] = [fault] * 50 if fault else []
    back = invoke(services, messages)
    replies = {identity: json.loads(text) for identity, _, text in services.sinks[0].had}
    for message in messages:
        good = message.kind in GOOD
        if fault and good:
            assert message.number in back
        if message.number not in back:
            reply = replies[message.reply_id]
            assert reply["status"] == ("answered" if good else "refused")
            assert reply["correlation_id"] == str(message.number)
            assert reply["profile"] == (message.kind if good else "query-response")
    assert fault or not back


BODY = st.one_of(
    wild,
    anything,
    anything.map(json.dumps),
    st.fixed_dictionaries({"Type": st.just("Notification"), "Message": wild}, optional={"MessageId": anything}),
    st.fixed_dictionaries({"detail-type": wild, "detail": anything}, optional={"id": anything, "source": wild}),
    st.fixed_dictionaries({"text": wild}, optional={"correlation_id": anything, "profile": anything}),
)


@given(BODY, st.uuids().map(str))
@bounded
def test_any_message_can_be_read_and_its_reply_addressed(body: Any, identity: str) -> None:
    message, again = read(body, identity), read(body, identity)
    assert (message.reply_id, message.correlation_id) == (again.reply_id, again.correlation_id)
    assert uuid.UUID(message.reply_id)
    assert 0 < len(message.correlation_id) <= 256
    assert message.correlation_id.isprintable(), "a message attribute can carry it"


@given(BODY, st.booleans())
@bounded
def test_any_message_is_answered_or_refused_at_once(body: Any, fifo: bool) -> None:
    services = Services(1)
    assert handled(services, batch([body], ["a"] if fifo else None)) == {"batchItemFailures": []}
    ((identity, group, text),) = services.sinks[0].had
    assert len(text.encode()) <= 262_144
    assert json.loads(text)["reply_id"] == identity
    assert group == ("a" if fifo else None)
