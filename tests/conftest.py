"""What every test may ask for: a real Kafka, and topic names of its own; and how property tests try their examples."""

from __future__ import annotations

import os
import uuid

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

# One profile for every folder: a property tries the same examples wherever it runs and in whatever company; what it
# tries, its own text decides. Built on Hypothesis' own default and not on the profile in force, which is another where
# Hypothesis sees that it runs in CI. Nothing is timed: on a busy machine an example takes as long as it takes.
DEFAULT = settings.get_profile("default")
UNTIMED = {"deadline": None, "print_blob": True, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("every", DEFAULT, derandomize=True, database=None, **UNTIMED)
settings.register_profile("fast", settings.get_profile("every"), max_examples=10)  # scripts/check fast: a tenth
settings.register_profile("hunt", DEFAULT, max_examples=1000, **UNTIMED)  # scripts/check hunt: other ones, in every run
settings.load_profile("every")

for shared in ("contracts", "support"):  # so that a failed assert there prints both sides, as in a test file
    pytest.register_assert_rewrite(f"tests.{shared}")

NO_KAFKA = (
    "NO KAFKA, SO THIS WAS NOT TESTED: start one with `scripts/kafka start`, and set EMGAS_TEST_KAFKA to the address "
    "that it prints (EMGAS_REQUIRE_KAFKA=1 makes its absence a failure)"
)


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
