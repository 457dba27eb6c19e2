"""Prompts that need no memory, by language: what people ask an assistant all day."""

from __future__ import annotations

from processors.text.tables import rows


def read_ordinary() -> dict[str, list[str]]:
    """Read the prompts of data/ordinary.tsv, by language."""
    prompts: dict[str, list[str]] = {}
    for language, text in rows(__package__, "ordinary"):
        prompts.setdefault(language, []).append(text)
    return prompts
