"""Questions that no memory of a conversation answers, by language: `emgas eval --silence` asks them everywhere."""

from __future__ import annotations

from processors.text.tables import rows


def read_unanswerable() -> dict[str, list[str]]:
    """Read the questions of data/unanswerable.tsv, by language."""
    questions: dict[str, list[str]] = {}
    for language, text in rows(__package__, "unanswerable"):
        questions.setdefault(language, []).append(text)
    return questions
