"""Runs a function on many items: in as many processes as there are cores, and not again for what the cache holds."""

import atexit
import gc
import json
import os
import pickle
import signal
import threading
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from multiprocessing import get_context, parent_process
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Generic, Self, TypeVar

from passage.sites.result_cache import ResultCache

T = TypeVar("T")

FEWEST_BYTES = 1_000_000
"""Fewer bytes are read in this process: to start others takes longer."""
_JOB_BYTES = 200_000
_JOB_ITEMS = 64
_AHEAD = 8
"""Jobs of each process that are held in memory."""
_WAITING = 64
"""Jobs that are held in memory until it is known whether other processes are worth it."""
_STOPS = {signal.SIGINT, signal.SIGTERM}


@dataclass(frozen=True, slots=True)
class Item(Generic[T]):
    """One call of a function.

    Attributes:
        size: of the argument, in bytes.
        key: of the result in the cache: a hash of everything that it depends on.
    """

    argument: T
    size: int
    key: bytes


Function = Callable[[Any, T], bytes]
"""Gives the result for a context, which all items share, and an argument. It is found by its module and name."""


@dataclass(slots=True)
class _Job:
    """Some items in a row.

    Attributes:
        results: those that are there, by the item's key.
        missing: the other items.
        future: of their results; None while no process has them.
    """

    items: list[Item[Any]]
    results: dict[bytes, bytes]
    missing: list[Item[Any]]
    future: "Future[list[bytes]] | None" = None
    size: int = field(default=0)


class Workers:
    """The processes of one run. Use it as a context manager: no process outlives it, nor its parent.

    Args:
        cache: None where results are not kept.
        processes: the most to start; 1 for none beside this one.
    """

    def __init__(self, cache: ResultCache | None = None, processes: int | None = None) -> None:
        self._cache = cache
        self._processes = processes or _cores()
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Self:
        return self

    def stop(self) -> None:
        """End the processes, after the jobs that they have begun. They start again where they are needed."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def __exit__(self, *_: object) -> None:
        self.stop()
        if self._cache is not None:
            self._cache.close()

    def run(self, function: Function[T], context: object, items: Iterable[Item[T]]) -> Iterator[bytes]:
        """The results in the order of the items. They are the same in one process or several.

        Raises:
            Exception: what the function raises.
        """
        written = pickle.dumps(context)
        waiting: deque[_Job] = deque()
        for job in self._jobs(items):
            waiting.append(job)
            if self._pool is None and self._processes > 1 and sum(each.size for each in waiting) >= FEWEST_BYTES:
                self._pool = _pool(self._processes)
            for each in waiting if self._pool else ():
                self._submit(each, function, written)
            most = 0 if self._processes == 1 else _AHEAD * self._processes if self._pool else _WAITING
            while waiting and (not waiting[0].missing or len(waiting) > most):
                yield from self._finished(waiting.popleft(), function, context)
        for job in waiting:
            yield from self._finished(job, function, context)

    def lines(self, key: bytes, make: Callable[[], Iterable[str]]) -> Iterator[str]:
        """The cached texts with a key; where there are none, those that `make` gives in this process, as they come."""
        held = self._job([Item(None, 0, key)]).results.get(key)
        if held is not None:
            yield from json.loads(held)
            return
        made: list[str] = []
        for line in make():
            made.append(line)
            yield line
        if self._cache is not None:
            self._cache.put({key: _packed(json.dumps(made).encode())})

    def _jobs(self, items: Iterable[Item[T]]) -> Iterator[_Job]:
        most = _JOB_ITEMS if self._cache is not None or self._processes > 1 else 1
        some: list[Item[T]] = []
        size = 0
        for item in items:
            some.append(item)
            size += item.size
            if size >= _JOB_BYTES or len(some) >= most:
                yield self._job(some)
                some, size = [], 0
        if some:
            yield self._job(some)

    def _job(self, items: list[Item[T]]) -> _Job:
        cached = self._cache.get([item.key for item in items]) if self._cache else {}
        results = {key: content for key, packed in cached.items() if (content := _unpacked(packed)) is not None}
        missing = [item for item in items if item.key not in results]
        return _Job(items, results, missing, size=sum(item.size for item in missing))

    def _finished(self, job: _Job, function: Function[T], context: object) -> Iterator[bytes]:
        if job.missing:
            made = self._made(job, function, context)
            found = dict(zip((item.key for item in job.missing), made, strict=True))
            if self._cache is not None:
                self._cache.put(found)
            job.results.update((key, zlib.decompress(packed)) for key, packed in found.items())
        yield from (job.results[item.key] for item in job.items)

    def _made(self, job: _Job, function: Function[T], context: object) -> list[bytes]:
        if job.future is not None:
            try:
                return job.future.result()
            except BrokenProcessPool:  # a process was killed, or could not be started: go on in this one
                self._pool, self._processes = None, 1
        return [_packed(function(context, item.argument)) for item in job.missing]

    def _submit(self, job: _Job, function: Function[T], context: bytes) -> None:
        if self._pool is not None and job.missing and job.future is None:
            with suppress(BrokenProcessPool):
                job.future = self._pool.submit(_call, function, context, [item.argument for item in job.missing])


IN_THIS_PROCESS = Workers(processes=1)


def _packed(content: bytes) -> bytes:
    return zlib.compress(content, 1)


def _unpacked(packed: bytes) -> bytes | None:
    """The content; None if it is damaged."""
    try:
        return zlib.decompress(packed)
    except zlib.error:
        return None


def _cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _pool(processes: int) -> ProcessPoolExecutor:
    """Some processes. A signal waits until they are there: nothing ends them if it stops their making."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)
    try:
        pool = ProcessPoolExecutor(processes, mp_context=get_context(_start_method()), initializer=_begin)
        pool.submit(os.getpid)  # the first job makes them
        return pool
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_method() -> str:
    """How processes are made: as copies of this one, which work at once, or as new interpreters, which import first.

    A copy of a process with threads may wait for ever for a lock that one of them held.
    """
    threads = Path("/proc/self/task")  # Linux has it
    return "fork" if threads.is_dir() and len(list(threads.iterdir())) == 1 else "spawn"


def _begin() -> None:
    """Collect garbage only after each job: the automatic collections take 6 % of a worker's time.

    At its end a worker leaves its memory to the system: to free it piece by piece takes 50 ms.
    """
    gc.disable()
    atexit.register(os._exit, 0)
    _follow_parent()


def _follow_parent() -> None:
    """Leave Ctrl-C to the parent, which ends this process, and end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # the parent's own way to stop is not this copy's
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)


def _call(function: Function[T], context: bytes, arguments: Sequence[T]) -> list[bytes]:
    results = [_packed(function(_loaded(context), argument)) for argument in arguments]
    gc.collect(0)  # only what this job made
    return results


@lru_cache(maxsize=2)
def _loaded(context: bytes) -> object:
    return pickle.loads(context)  # noqa: S301 - the parent's own
