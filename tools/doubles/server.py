"""Runs an emulated service, records its requests, and plays faults."""

import asyncio
from dataclasses import replace
from typing import Self

from aiohttp import web

from passage.emulators.server import HOST, Answer, EmulatedService, ServiceThread
from tools.doubles.compression import compressed
from tools.doubles.control import PREFIX, control_routes
from tools.doubles.faults import FaultPlan
from tools.doubles.injection import inject
from tools.doubles.recording import RecordedRequest, Recorder


class EmulatorServer:
    """One service on one port.

    Args:
        latency_ms: milliseconds added to every answer; may be changed while it runs.
        compresses: whether a client that asks for gzip gets it, as from Qdrant's server.
        host, port: see `ServiceThread`.
    """

    def __init__(
        self,
        service: EmulatedService,
        *,
        host: str = HOST,
        port: int = 0,
        latency_ms: float = 0,
        compresses: bool = False,
    ) -> None:
        self._recorder = Recorder()
        self._error_body = service.error_body
        self._compresses = compresses
        self.faults = FaultPlan()
        self.requests: list[RecordedRequest] = self._recorder.requests
        self.latency_ms = latency_ms
        controlled = replace(
            service,
            routes=[*control_routes(self.faults, self.requests), *service.routes],
            authorize=lambda request: None if request.path.startswith(PREFIX) else service.authorize(request),
        )
        self._thread = ServiceThread(controlled, host=host, port=port, around=self._play)

    @property
    def url(self) -> str:
        """The service's URL, without a trailing slash."""
        return self._thread.url

    def start(self) -> Self:
        """See `ServiceThread.start`."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """See `ServiceThread.stop`."""
        self._thread.stop()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    async def _play(self, request: web.Request, answer: Answer) -> web.StreamResponse:
        """Record a request, and answer it with the next fault, if one is planned for it."""
        if request.path.startswith(PREFIX):
            return await answer()
        await self._recorder.record(request)
        if self.latency_ms > 0:
            await asyncio.sleep(self.latency_ms / 1000)
        fault = self.faults.take(request.path)
        if fault is not None:
            return await inject(fault, request, answer, self._error_body)
        response = await answer()
        return await compressed(request, response) if self._compresses else response
