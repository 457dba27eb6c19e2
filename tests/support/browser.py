"""A real browser and a gateway for it: what a person sees, driven by playwright, in Debian's Chromium."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, expect

from emgas import MemoryClient
from gateway.auth.keys import Keys
from tests.support.clocks import PATIENCE
from tests.support.served import serving

ROOT = Path(__file__).resolve().parents[2]
CONVERSATION = ROOT / "streams" / "cli" / "memory" / "demo_data" / "conversation.jsonl"
# WebGL in software; and nothing of a browser's own is asked of the network.
FLAGS = (
    *("--no-sandbox", "--use-angle=swiftshader-webgl", "--enable-unsafe-swiftshader", "--disable-gpu-compositing"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic"),
    "--no-first-run",
)
VIOLATIONS = """
document.addEventListener("securitypolicyviolation",
  (event) => console.error(`CSP: ${event.violatedDirective} ${event.blockedURI}`));
"""
MILLISECONDS = 1000 * PATIENCE
NAMES = ("chromium", "chromium-browser", "google-chrome")


def required(why: str) -> None:
    """Skip, loudly; where a browser must be there (EMGAS_REQUIRE_BROWSER=1), fail."""
    if os.environ.get("EMGAS_REQUIRE_BROWSER") == "1":
        pytest.fail(why)
    pytest.skip(f"THE EXPLORER IS NOT TESTED: {why}")


def chromium() -> str:
    """Find a Chromium."""
    program = next((path for name in NAMES if (path := shutil.which(name))), None)
    if program is None:
        required("there is no Chromium here: ./scripts/chromium installs one on Debian, as root")
    return str(program)


def build_page() -> None:
    """Build the explorer, unless it is as its sources are."""
    done = subprocess.run([sys.executable, str(ROOT / "scripts" / "page")], capture_output=True, text=True)
    if done.returncode:
        required(f"the page cannot be built: {done.stderr[-500:]}")


def launched(playwright: Playwright) -> Browser:
    """Start the browser."""
    expect.set_options(timeout=MILLISECONDS)
    return playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))


@contextmanager
def served_demo(data: Path, keys: Keys | None = None) -> Iterator[str]:
    """Serve the demo's memory, until the block ends."""
    turns = [json.loads(line) for line in CONVERSATION.read_text(encoding="utf-8").splitlines()]
    with _served(data, turns, keys) as address:
        yield address


@contextmanager
def served_empty(data: Path) -> Iterator[str]:
    """Serve a memory that holds nothing, until the block ends."""
    with _served(data, [], None) as address:
        yield address


@contextmanager
def _served(data: Path, turns: list[dict[str, Any]], keys: Keys | None) -> Iterator[str]:
    """Serve a memory from a thread: a browser is driven without an event loop."""
    loop, ready, addresses = asyncio.new_event_loop(), threading.Event(), list[str]()
    ending = asyncio.Event()

    async def serve() -> None:
        async with MemoryClient(f"embedded:{data}", timeout=PATIENCE) as memory, serving(memory, keys) as url:
            async for _ in memory.publish_many(turns):
                pass
            addresses.append(url)
            ready.set()
            await ending.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    try:
        assert ready.wait(PATIENCE)
        yield addresses[0]
    finally:
        loop.call_soon_threadsafe(ending.set)
        thread.join(PATIENCE)


class Visit:
    """A page, and all that went wrong on it."""

    def __init__(self, context: BrowserContext) -> None:
        context.add_init_script(VIOLATIONS)
        self.page: Page = context.new_page()
        self.page.set_default_timeout(MILLISECONDS)
        self.problems: list[str] = []
        self.requested: set[str] = set()
        self.page.on("console", lambda message: self.problems.append(message.text) if message.type == "error" else None)
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("request", lambda request: self.requested.add(request.url))

    def open(self, url: str) -> Visit:
        """Open an address; come back once the graph lies still."""
        self.page.goto(url)
        return self.until("ready", "answered")

    def until(self, *states: str) -> Visit:
        """Wait until the page is in one of these states."""
        self.page.wait_for_selector(", ".join(f"html[data-state={state}]" for state in states))
        return self

    def place_of(self, label: str) -> tuple[float, float]:
        """Find a concept on the screen."""
        place = self.page.evaluate("(label) => explorer.placeOf(label)", label)
        assert place is not None, f"{label} is not drawn"
        return place["x"], place["y"]

    def slide(self, step: int) -> None:
        """Move the slider over time, of 0 to 1000."""
        self.page.locator("#slider").fill(str(step))
