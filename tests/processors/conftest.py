"""Deterministic property tests: the same examples in every run, none of them timed."""

from hypothesis import settings

settings.register_profile("deterministic", derandomize=True, deadline=None, database=None, print_blob=True)
settings.load_profile("deterministic")
