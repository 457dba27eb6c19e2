"""Strategies: any message that the contract allows."""

from __future__ import annotations

from hypothesis import strategies as st

from emgas import limits
from emgas.messages.turns import Turn
from emgas.times import SECONDS

characters = st.characters(exclude_characters="\x00", exclude_categories=["Cs"])
names = st.text(characters, min_size=1, max_size=limits.NAME_CHARACTERS)
short = st.text(characters, max_size=60)
integers = st.integers(-limits.METADATA_INTEGER, limits.METADATA_INTEGER)
values = short | integers | st.floats(allow_nan=False, allow_infinity=False) | st.booleans() | st.none()

turns = st.builds(
    Turn,
    id=names,
    graph=st.from_regex(r"\A[A-Za-z0-9张ë|][A-Za-z0-9_.:@|张ë-]{0,127}\Z"),
    speaker=names,
    text=st.text(characters, max_size=300).filter(str.strip),
    session=names,
    role=st.sampled_from(["user", "assistant", "system", "tool", None]),
    at=st.none() | st.integers(limits.EARLIEST_MS, SECONDS.start - 1) | st.integers(SECONDS.stop, limits.LATEST_MS),
    metadata=st.dictionaries(short, values, max_size=6),
)
