"""Faust's table recovery as it is set here: what was fetched of a log is lost only when partitions are taken away."""

from __future__ import annotations

from pathlib import Path

from streams.transports import embedded_broker

from tests.support.tiny_app import TinyApp


def test_what_a_standby_has_fetched_outlives_that_the_flow_is_resumed(tmp_path: Path) -> None:
    app = TinyApp(embedded_broker(tmp_path), "test", tmp_path)
    app.flow_control.resume()
    app.tables.changelog_queue.put_nowait("fetched, not folded yet")
    app.flow_control.resume()  # Faust, when all actives are claimed
    assert app.tables.changelog_queue.qsize() == 1


def test_what_was_fetched_of_partitions_is_forgotten_when_they_are_taken_away(tmp_path: Path) -> None:
    app = TinyApp(embedded_broker(tmp_path), "test", tmp_path)
    app.tables.changelog_queue.put_nowait("fetched, not folded yet")
    app.tables.on_partitions_revoked(set())
    assert app.tables.changelog_queue.empty()
