"""Texts that are too long for one turn: every importer and the client store them in pieces, and lose nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emgas import MemoryClient
from emgas.importers.registry import FORMATS
from emgas.pieces import PIECE_BYTES, PIECE_OF, in_pieces_if_long, pieces
from emgas.redaction import redact
from tests.support.chats import AT, CHAT, conversation, items, message, telegram, turns, zipped

LONG = "\n".join(
    [
        *(f"Paragraph {number} is about kettle number {number}." for number in range(1500)),
        "The anchor hangs above the door.",
    ]
)
TURN = {"id": "d", "graph": "ada", "speaker": "Ada", "text": LONG}
TIME = "2023-05-08T14:00:00.000000Z"
DOCUMENTS: dict[str, object] = {
    "jsonl": TURN,
    "openai": {"messages": [{"role": "user", "content": LONG}]},
    "sharegpt": {"id": "x1", "conversations": [{"from": "human", "value": LONG}]},
    "chatgpt": [conversation(message("m1", "root", "user", LONG))],
    "telegram": {**CHAT, "messages": [telegram(1, text=LONG)]},
    "claude": [{"uuid": "c", "chat_messages": [{"uuid": "m1", "sender": "human", "text": LONG, "created_at": TIME}]}],
    "discord": {
        "guild": {"name": "Tea"},
        "channel": {"name": "general"},
        "messages": [{"id": "11", "timestamp": TIME, "content": LONG, "author": {"name": "ada"}}],
    },
    "messenger": {"title": "Zoe", "messages": [{"sender_name": "Ada", "timestamp_ms": AT, "content": LONG}]},
    "gemini": [{"header": "Gemini Apps", "title": f"Prompted {LONG}", "time": TIME, "safeHtmlItem": []}],
    "mem0": [{"id": "m", "memory": LONG, "user_id": "ada"}],
    "locomo": [
        {
            "sample_id": "26",
            "conversation": {
                "session_1_date_time": "1:56 pm on 8 May, 2023",
                "session_1": [{"speaker": "Ada", "dia_id": "D1:1", "text": LONG}],
            },
        }
    ],
}
FILES = {
    **{name: json.dumps(document).encode() for name, document in DOCUMENTS.items()},
    "csv": f'id,speaker,text\n1,Ada,"{LONG}"\n'.encode(),
    "transcript": f"Ada: {LONG}\n".encode(),
    "whatsapp": f"[13/05/2023, 13:56:03] Ada: {LONG}\n".encode(),
    "slack": zipped(
        {
            "general/2023-05-08.json": json.dumps(
                [{"type": "message", "user": "U1", "ts": "1683554160.0002", "text": LONG}]
            ).encode()
        }
    ),
}


SHORTENING = {"claude-code", "codex"}  # they keep the beginning of a long text: the rest was pasted


@pytest.mark.parametrize("format", sorted({*FORMATS} - SHORTENING))
def test_every_importer_reads_a_text_that_is_too_long_for_one_turn_in_pieces(format: str) -> None:
    read = turns(items(FILES[format], "chat.txt", graph="ada", format=format))
    assert len(read) > 10
    assert " ".join(turn.text for turn in read).split() == LONG.split()
    whole, *rest = read
    assert [turn.id for turn in rest] == [f"{whole.id}/{number}" for number in range(1, len(read))]
    assert {turn.metadata.get(PIECE_OF) for turn in rest} == {whole.id}
    assert PIECE_OF not in whole.metadata
    assert {(turn.session, turn.speaker) for turn in read} == {(whole.session, whole.speaker)}


def test_what_came_with_a_turn_stays_with_its_first_piece() -> None:
    fields = {**TURN, "attachments": [{"uri": "file:///kettle.png"}], "metadata": {"channel": "phone"}, "at": AT}
    first, *rest = in_pieces_if_long(fields)
    assert first["attachments"] == fields["attachments"]
    assert not any("attachments" in piece for piece in rest)
    assert {(piece["at"], piece["metadata"]["channel"]) for piece in (first, *rest)} == {(AT, "phone")}


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "id": st.sampled_from(["d", None, 5, ""]),
            "text": st.sampled_from(["x", "x " * 20_000, "\ud800" * 40_000, "\0" * 40_000, None, 7]),
            "metadata": st.sampled_from([None, {}, {"a": 1}, [], "x"]),
        },
    )
)
def test_what_is_no_turn_for_another_reason_stays_as_it_is(turn: dict[str, object]) -> None:
    results = in_pieces_if_long(turn)
    is_long = turn.get("text") == "x " * 20_000 and isinstance(turn.get("id"), str)
    is_cut = is_long and isinstance(turn.get("metadata"), dict | None)
    assert len(results) > 1 if is_cut else results == [turn]


@pytest.mark.parametrize("before", range(0, 120, 7))
def test_a_secret_is_never_cut_into_halves_that_no_rule_recognises(before: int) -> None:
    start = "word " * ((PIECE_BYTES - 60) // 5) + "y" * before
    key = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEpAIBAAKCAQEA7abc\n" * 80 + "-----END RSA PRIVATE KEY-----"
    for secret in (key, f"<private>{'We meet at the harbour. ' * 300}</private>", "password: hunter2-and-more"):
        stored = " ".join(redact(piece) for piece in pieces(f"{start} {secret} and then we went home. " + "z " * 3000))
        assert redact(secret) in stored
        assert not any(part in stored for part in ("MIIE", "harbour", "hunter2"))


async def test_the_client_publishes_and_records_a_long_mapping_in_pieces(tmp_path: Path) -> None:
    attached = {"uri": "file:///kettle.png", "kind": "image", "caption": "a kettle"}
    async with MemoryClient(f"embedded:{tmp_path}") as memory:
        receipt = await memory.publish({**TURN, "attachments": [attached]})
        reply = await memory.query("ada", "Where does the anchor hang?", after=receipt)
        assert "anchor" in reply.passages[0].text
        again = await memory.record({**TURN, "attachments": [attached]})
        assert (again.status, again.turn) == ("duplicate", "d")
        other = await memory.record({**TURN, "text": LONG[:-10] + " Or not."})
        assert (other.status, other.turn) == ("rejected", "d")
