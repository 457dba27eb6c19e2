"""Deterministic property tests: the same examples in every run, none of them timed; and both stores."""

from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.support.stores import Opener, opener

settings.register_profile("deterministic", derandomize=True, deadline=None, database=None, print_blob=True)
settings.load_profile("deterministic")
pytest.register_assert_rewrite("tests.contracts.store_contract")


@pytest.fixture(params=["memory", "rocksdb"])
def open_store(request: pytest.FixtureRequest) -> Iterator[Opener]:
    """Yield what opens one and the same store, again and again."""
    with opener(request.param) as opened:
        yield opened
