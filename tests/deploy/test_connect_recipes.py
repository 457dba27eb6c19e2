"""The recipes for Kafka Connect name topics and tables that there are, hold no secret, and are documented."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from emgas.wire import TopicNames
from replay.graph_rows import KEYS
from tests.support.cli import ROOT

RECIPES = sorted((ROOT / "deploy" / "connect").glob("*.json"))


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda path: path.stem)
def test_a_recipe_reads_what_there_is_and_keeps_its_secrets_elsewhere(recipe: Path) -> None:
    config = json.loads(recipe.read_text(encoding="utf-8"))["config"]
    assert all(isinstance(value, str) for value in config.values()), "Connect takes texts alone"
    names = TopicNames("emgas")
    if "topics" in config:
        assert config["topics"] in (names.changes, names.events)
        assert config["value.converter.schemas.enable"] == "false", "records are plain JSON"
    else:
        assert set(config["table.include.list"].split(",")) == {f"public.emgas_{table}" for table in KEYS}
    secret = ("uri", "url", "password", "user")
    assert all(value.startswith("${file:") for name, value in config.items() if name.endswith(secret))
    assert recipe.name in (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")


def test_there_are_recipes() -> None:
    assert len(RECIPES) == 2
