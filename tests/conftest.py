"""What every test may ask for: a real Kafka, and topic names of its own."""

from __future__ import annotations

import os
import uuid

import hypothesis
import pytest

# No deadlines: on a busy machine an example may take as long as it takes.
hypothesis.settings.register_profile("every", deadline=None)
hypothesis.settings.register_profile("fast", deadline=None, max_examples=10)  # scripts/check fast: a tenth
hypothesis.settings.load_profile("every")

for shared in ("contracts", "support"):  # so that a failed assert there prints both sides, as in a test file
    pytest.register_assert_rewrite(f"tests.{shared}")

NO_KAFKA = (
    "NO KAFKA, SO THIS WAS NOT TESTED: start one with `scripts/kafka start`, and set EMGAS_TEST_KAFKA to the address "
    "that it prints (EMGAS_REQUIRE_KAFKA=1 makes its absence a failure)"
)


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
