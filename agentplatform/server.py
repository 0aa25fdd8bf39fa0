"""Runs the ASGI server, with the worker in the same process if asked, and ends both within a bounded time."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
import threading
from types import FrameType
from typing import NoReturn

import uvicorn
from django.conf import settings

from transactions import outbox, sweeper

log = logging.getLogger(__name__)

GRACEFUL_SECONDS = 3
SWEEPER_SECONDS = 5
WEBSOCKET_BYTES = 128 * 1024
"""More than the 32 KiB of a frame, so that the consumer can answer ``too_large`` and keep the socket open
(contracts.md §2); what is larger still closes it before it fills the memory."""


class Server(uvicorn.Server):
    """uvicorn that hands its event loop to the outbox and tells the sweeper when a signal ends it."""

    def __init__(self, config: uvicorn.Config, stop: threading.Event) -> None:
        super().__init__(config)
        self.stop = stop

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        # The in-memory channel layer may be used only on the loop that owns its queues.
        outbox.attach_loop(asyncio.get_running_loop())
        outbox.warm_up("turns")
        await super().startup(sockets)
        # A signal that came while the application was loading reached only our own handler.
        self.should_exit = self.should_exit or self.stop.is_set()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.stop.set()
        super().handle_exit(sig, frame)


def bound(host: str, port: int) -> socket.socket:
    """A socket bound to ``host`` and ``port`` (0: any free one); raises OSError when it cannot be had.

    It refuses connections until the server runs: who can connect can be answered.
    """
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError:
        listener.close()
        raise
    return listener


def config() -> uvicorn.Config:
    return uvicorn.Config(
        "agentplatform.asgi:application",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        # Nobody's forwarded address or scheme is believed, but that of the proxies that the settings name.
        proxy_headers=bool(settings.FORWARDED_ALLOW_IPS),
        forwarded_allow_ips=settings.FORWARDED_ALLOW_IPS,
        timeout_graceful_shutdown=GRACEFUL_SECONDS,
        ws_max_size=WEBSOCKET_BYTES,
        # A compressed frame of a few bytes may unpack into megabytes.
        ws_per_message_deflate=False,
    )


def run(listener: socket.socket, *, embedded: bool) -> NoReturn:
    """Serve on ``listener`` until SIGTERM or SIGINT, then end the process with status 0.

    ``embedded`` also runs due work in this process. Sockets are closed with code 1012 within
    ``GRACEFUL_SECONDS``; a call that still runs is left to its lease and the next sweeper (runtime.md §9).
    """
    stop = threading.Event()
    # uvicorn raises the signal again after its shutdown: with the default handlers nothing below would run.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: stop.set())
    worker = threading.Thread(target=sweep, args=(stop,), name="sweeper", daemon=True)
    status = 1
    try:
        if embedded:
            worker.start()
        Server(config(), stop).run(sockets=[listener])
        status = 0
    except BaseException:
        log.exception("the server ended with an error")
    finally:
        end(stop, worker, status)


def sweep(stop: threading.Event) -> None:
    """Sweep until ``stop``: while this process takes messages, nothing may end its worker for good."""
    while not stop.is_set():
        try:
            sweeper.loop(stop)
        except Exception:
            log.exception("the sweeper failed and starts again")


def end(stop: threading.Event, worker: threading.Thread, status: int) -> NoReturn:
    """Give what is running a bounded time and leave: the interpreter would join every pool's threads."""
    stop.set()
    outbox.shutdown()
    if worker.is_alive():
        worker.join(SWEEPER_SECONDS)
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def end_with_stdin() -> None:
    """End this process as if by SIGTERM once its standard input closes, that is when its parent is gone."""

    def watch() -> None:
        sys.stdin.buffer.read()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="stdin-watch", daemon=True).start()
