"""Serve a worker's health and metrics at EMGAS_HEALTH=[host:]port: off without it, on loopback without a host.

    GET /livez     200 while the event loop answers
    GET /readyz    200 when every owned partition is folded to its claim, else 503; JSON says what is not,
                   and which partitions have unavailable graphs (that alone is 200: the others are answered)
    GET /metrics   Prometheus text: metrics.py, gauges.py

No authentication and no text of a memory; but on a network it shows how busy the memory is.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from emgas.errors import TransportError
from emgas.logs import logger
from streams.settings import WorkerSettings
from streams.worker.answering_app import AnsweringApp
from streams.worker.gauges import WorkerGauges, problems, unavailable

log = logger("worker")


class HealthServer:
    """Answers for one worker.  `port` is the one that it listens on, once started."""

    def __init__(self, settings: WorkerSettings, app: AnsweringApp) -> None:
        self.port = 0
        self._app = app
        self._gauges = WorkerGauges(settings, app)
        served = web.Application()
        for path, handler in (("/livez", self._alive), ("/readyz", self._ready), ("/metrics", self._metrics)):
            served.router.add_get(path, handler)
        self._runner = web.AppRunner(served, access_log=None)

    async def start(self, host: str, port: int) -> None:
        """Listen.  Raises TransportError where that cannot be."""
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, host, port).start()
        except OSError as error:
            await self.stop()
            raise TransportError(f"EMGAS_HEALTH: cannot listen on {host}:{port} ({error.strerror})") from error
        self.port = self._runner.addresses[0][1]
        log.info("health is served", host=host, port=self.port)

    async def stop(self) -> None:
        await self._runner.cleanup()

    async def _alive(self, _: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def _ready(self, _: web.Request) -> web.Response:
        obstacles, owned = problems(self._app), sorted(self._app.ownership.queryable)
        report = {"ready": not obstacles, "role": self._app.role, "partitions": owned, "problems": obstacles}
        if named := unavailable(self._app):
            report["unavailable"] = named
        return web.json_response(report, status=503 if obstacles else 200)

    async def _metrics(self, _: web.Request) -> web.Response:
        await self._gauges.look()
        text = generate_latest(self._app.metrics.registry)
        return web.Response(body=text, headers={"Content-Type": CONTENT_TYPE_LATEST})


@asynccontextmanager
async def served(settings: WorkerSettings, app: AnsweringApp) -> AsyncIterator[None]:
    """Serve the health of `app` for as long as the block lasts, if a port is configured.  Raises TransportError."""
    if settings.health_address is None:
        yield
        return
    server = HealthServer(settings, app)
    await server.start(*settings.health_address)
    app.health_port = server.port
    try:
        yield
    finally:
        await server.stop()
