"""What every test may ask for (a real Kafka, names of its own), may cost, and how properties try their examples."""

from __future__ import annotations

import gc
import os
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

from processors.lifecycle.policies import register

# One profile for every folder: a property tries the same examples wherever it runs and in whatever company; what it
# tries, its own text decides. Built on Hypothesis' own default and not on the profile in force, which is another where
# Hypothesis sees that it runs in CI. Nothing is timed: on a busy machine an example takes as long as it takes.
DEFAULT = settings.get_profile("default")
UNTIMED = {"deadline": None, "print_blob": True, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("every", DEFAULT, derandomize=True, database=None, **UNTIMED)
settings.register_profile("fast", settings.get_profile("every"), max_examples=10)  # scripts/check fast: a tenth
settings.register_profile("hunt", DEFAULT, max_examples=1000, **UNTIMED)  # scripts/check hunt: other ones, in every run
settings.register_profile("gate", settings.get_profile("every"), max_examples=20)  # scripts/test; a cap (see below)
settings.load_profile("every")


def _load(kind: str, name: str) -> object:
    """Return a policy of the lab, as entry points give it to a worker; the lab is imported only then."""
    from lab.catalogue import load  # where adapters are tested, it cannot be imported

    return load(kind, name)


register(_load)

for shared in ("contracts", "support"):  # so that a failed assert there prints both sides, as in a test file
    pytest.register_assert_rewrite(f"tests.{shared}")

NO_KAFKA = (
    "NO KAFKA, SO THIS WAS NOT TESTED: start one with `scripts/kafka start`, and set EMGAS_TEST_KAFKA to the address "
    "that it prints (EMGAS_REQUIRE_KAFKA=1 makes its absence a failure)"
)

# CPU seconds of a test's process, threads included and other processes not. A busy machine adds up to a half, because
# caches are shared, and threads that wait for each other spin longer. The budgets have room for that.
IN_THE_GATE, ELSEWHERE = 16, 90  # what is marked slow, and the gate leaves out, and whatever tries all its examples


def pytest_collection_finish() -> None:
    """Keep the garbage collector off what is collected: it would look through it all again and again, to no end."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put long files first where files are shared out; cap examples that tests ask for, in the profile of the gate."""
    if hasattr(config, "workerinput"):  # one of the processes of `-n`
        long_first(items)
    if settings.get_current_profile_name() == "gate":
        for item in items:
            _cap_examples(getattr(item, "obj", None), settings.default.max_examples)


def long_first(items: list[pytest.Item]) -> None:
    """Sort files: those with tests that are slow or wait for a Kafka, and of those the ones with few: each is long.

    A process that takes a long file last works alone at the end. One that waits for a broker leaves its core to others.
    """
    tests, long = Counter(item.path for item in items), Counter[Path]()
    for item in items:
        long[item.path] += any(item.get_closest_marker(name) for name in ("kafka", "slow"))
    items.sort(key=lambda item: (0, tests[item.path]) if long[item.path] else (1, -tests[item.path]))  # it is stable


def _cap_examples(test: object, most: int) -> None:
    """Lower what `@settings(max_examples=…)` asks for: a profile is only the default of it."""
    own = getattr(test, "_hypothesis_internal_use_settings", None)  # there is no public way
    if own is not None and own.max_examples > most:
        function = getattr(test, "__func__", test)  # a method is made again whenever its class is asked for it
        function._hypothesis_internal_use_settings = settings(own, max_examples=most)  # noqa: SLF001


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Iterator[None]:
    """Fail a test that passes, but takes more CPU time than its budget; a hunt has none."""
    before = time.process_time()
    result = yield
    profile, slow = settings.get_current_profile_name(), pyfuncitem.get_closest_marker("slow")
    used, budget = time.process_time() - before, IN_THE_GATE if profile == "gate" and not slow else ELSEWHERE
    if used > budget and profile != "hunt":
        pytest.fail(
            f"it took {used:.1f} s of CPU time, and its budget is {budget} s (tests/conftest.py): make it cheaper; "
            "if it cannot be, mark it `slow`, and the gate leaves it to .ci/run",
            pytrace=False,
        )
    return result


def pytest_sessionstart() -> None:
    """Keep Hypothesis, except while it hunts, from trying constants that stand in whatever modules are imported so far.

    No setting does that; tests/test_properties.py tells when a new Hypothesis takes them from elsewhere.
    """
    if settings.default.derandomize:
        providers._get_local_constants = Constants  # noqa: SLF001 - no public way


@pytest.fixture(scope="session")
def kafka_address() -> str:
    """Return host:port of a real Apache Kafka; without one the test is skipped, or fails with EMGAS_REQUIRE_KAFKA=1."""
    address = os.environ.get("EMGAS_TEST_KAFKA", "")
    if not address and os.environ.get("EMGAS_REQUIRE_KAFKA") == "1":
        pytest.fail(NO_KAFKA)
    if not address:
        pytest.skip(NO_KAFKA)
    return address


@pytest.fixture
def prefix() -> str:
    """Return a topic prefix, which is also a consumer group, that no other test has ever used."""
    return f"test-{uuid.uuid4().hex[:12]}"
