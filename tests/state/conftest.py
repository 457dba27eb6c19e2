"""Both stores."""

from collections.abc import Iterator

import pytest

from tests.support.stores import Opener, opener

pytest.register_assert_rewrite("tests.contracts.store_contract")


@pytest.fixture(params=["memory", "rocksdb"])
def open_store(request: pytest.FixtureRequest) -> Iterator[Opener]:
    """Yield what opens one and the same store, again and again."""
    with opener(request.param) as opened:
        yield opened
