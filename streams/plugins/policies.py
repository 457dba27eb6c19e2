"""Policies of installed packages, by kind and name: each is an entry point, `emgas.KIND` in the package's metadata.

    [project.entry-points."emgas.retrievers"]
    mine = "my_package:RETRIEVER"

docs/extending.md lists the kinds, and what each entry point must be.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from typing import Any

from processors.lifecycle.policies import UnknownPolicyError


@cache
def load(kind: str, name: str) -> Any:
    """Import the policy of this name.  Raises UnknownPolicyError where none is installed, or it cannot be imported."""
    for entry in entry_points(group=f"emgas.{kind}", name=name):
        try:
            return entry.load()
        except ImportError as error:
            raise UnknownPolicyError(f"{name!r} ({entry.value}) cannot be imported: {error}") from error
    installed = ", ".join(sorted(entry_points(group=f"emgas.{kind}").names)) or "none"
    raise UnknownPolicyError(f"there is no {name!r} among the {kind} that are installed here: {installed}")
