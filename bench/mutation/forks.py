"""A plugin of pytest that runs tests in forks of the process that collected them, so that no fault outlives its fork.

The first fork may record which functions each test enters; a fork that hangs or dies is the failure of its test.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import sys
import threading
import time
import types
from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import Phase, settings

PATIENCE = 30.0  # seconds, and as often what the test takes without a fault: a fault that loops is noticed by then
FEW: dict[str, Any] = {"max_examples": 20, "phases": (Phase.explicit, Phase.generate)}  # what fails is not made smaller

Place = tuple[str, str]  # a file's path, and the qualified name of a function in it
_entered: set[Place] = set()


class ForkResult(NamedTuple):
    """The result of a test in a fork; `died`: the fork ended in it, or before it if it is the first.

    seconds  of CPU time
    """

    test: str
    state: Literal["passed", "failed", "died", "hung"]
    seconds: float = 0.0
    entered: tuple[Place, ...] = ()


class Forks:
    """The tests that pytest collected, by id; `work` is called in place of running them."""

    def __init__(self, work: Callable[[Forks], None]) -> None:
        self._work, self.items = work, dict[str, pytest.Item]()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Call `work`, and let properties try few examples in it."""
        self.items = {item.nodeid: item for item in session.items}
        settings.register_profile("mutation", settings.get_profile(settings.get_current_profile_name()), **FEW)
        settings.load_profile("mutation")
        for item in session.items:
            _find_only(item)
        self._work(self)
        return True

    def results(self, tests: list[str], before: Callable[[], bool], seconds: dict[str, float]) -> Iterator[ForkResult]:
        """Run tests in a fork, after `before` in it; ends after the first that hangs or dies, or with the caller."""
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            self._run_and_exit(tests, before, writing)
        os.close(writing)
        try:
            for test in tests:
                result = _received(reading, test, PATIENCE * (1 + seconds.get(test, PATIENCE)))
                yield result
                if result.state in ("died", "hung"):
                    break
        finally:
            os.close(reading)
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)

    def _run_and_exit(self, tests: list[str], before: Callable[[], bool], writing: int) -> None:
        try:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.dup2(null, 2)
            if before():
                for test in tests:
                    _send(writing, self._result(test))
        finally:
            os._exit(0)

    def _result(self, test: str) -> ForkResult:
        _entered.clear()
        start = time.process_time()
        reports = runtestprotocol(self.items[test], log=False, nextitem=None)
        state: Literal["passed", "failed"] = "failed" if any(report.failed for report in reports) else "passed"
        return ForkResult(test, state, time.process_time() - start, tuple(_entered))


def record_functions(paths: set[str]) -> bool:
    """Record from now on which functions of `paths` are entered: a nested one as the one around it."""

    def profile(frame: types.FrameType, event: str, _: object) -> None:
        if event == "call" and (path := frame.f_code.co_filename) in paths:
            _entered.add((path, frame.f_code.co_qualname.partition(".<locals>")[0]))

    threading.setprofile(profile)
    sys.setprofile(profile)
    return True


def _find_only(item: pytest.Item) -> None:
    """Make a property with its own settings stop at the first failing example, as the profile does for others."""
    test = getattr(item, "obj", None)
    own = getattr(test, "_hypothesis_internal_use_settings", None)  # there is no public way
    if own is not None:
        vars(getattr(test, "__func__", test))["_hypothesis_internal_use_settings"] = settings(own, **FEW)


def _send(writing: int, result: ForkResult) -> None:
    data = pickle.dumps(tuple(result))
    data = len(data).to_bytes(4, "big") + data
    while data:
        data = data[os.write(writing, data) :]


def _received(reading: int, test: str, patience: float) -> ForkResult:
    if not select.select([reading], [], [], patience)[0]:
        return ForkResult(test, "hung", patience)
    head = os.read(reading, 4)
    if not head:
        return ForkResult(test, "died")
    data, left = b"", int.from_bytes(head, "big")
    while left:
        part = os.read(reading, left)
        data, left = data + part, left - len(part)
    return ForkResult(*pickle.loads(data))  # noqa: S301 - from our own fork
