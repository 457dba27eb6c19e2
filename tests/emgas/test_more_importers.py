"""Chats of more programs: what each file becomes, in the words of whoever exported it."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from emgas import Turn
from emgas.errors import InvalidMessageError
from emgas.importers.registry import BadLine, Item, Options, detect, read, read_folder

TWO_PM = 1_683_554_400_000  # 2023-05-08T14:00:00Z


def items(content: Any, name: str = "file.json", graph: str | None = None, **options: str) -> list[Item]:
    raw = content.encode() if isinstance(content, str) else json.dumps(content).encode()
    return list(read(BytesIO(raw), name, graph, options=Options(**options)))  # type: ignore[arg-type]


def utterances(results: list[Item]) -> list[tuple[str, str]]:
    assert [item for item in results if isinstance(item, BadLine)] == []
    return [(item.speaker, item.text) for item in results if isinstance(item, Turn)]


CLAUDE = [
    {
        "uuid": "c1",
        "name": "Tea",
        "created_at": "2023-05-08T14:00:00.000000Z",
        "chat_messages": [
            {"uuid": "m1", "sender": "human", "text": "Hi", "created_at": "2023-05-08T14:00:00.000000Z",
             "files": [{"file_name": "kettle.png"}], "attachments": []},
            {"uuid": "m2", "sender": "assistant", "text": "old", "created_at": "2023-05-08T14:00:01.500000+00:00",
             "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Hello"}]},
            {"uuid": "m3", "sender": "assistant", "text": "", "content": [], "created_at": "2023-05-08T14:00:02Z"},
        ],
    }
]  # fmt: skip


def test_claudes_conversations_become_turns_with_their_times() -> None:
    results = items(CLAUDE)
    assert utterances(results) == [("user", "Hi\n[shares kettle.png]"), ("assistant", "Hello")]
    first, second = results
    assert isinstance(first, Turn)
    assert isinstance(second, Turn)
    assert (first.id, first.graph, first.session, first.at) == ("m1", "claude-c1", "c1", TWO_PM)
    assert second.at == TWO_PM + 1_500
    assert first.metadata == {"origin": "import:claude", "title": "Tea"}


def test_a_zip_of_claude_is_told_from_one_of_chatgpt(tmp_path: Path) -> None:
    with ZipFile(tmp_path / "data.zip", "w") as made:
        made.writestr("conversations.json", json.dumps(CLAUDE))
        made.writestr("users.json", "[]")
    with (tmp_path / "data.zip").open("rb") as stream:
        assert len(utterances(list(read(stream, "data.zip", "me")))) == 2


DISCORD = {
    "guild": {"id": "1", "name": "Tea room"},
    "channel": {"id": "2", "type": "GuildTextChat", "name": "general"},
    "messages": [
        {"id": "10", "type": "GuildMemberJoin", "timestamp": "2023-05-08T13:59:00+00:00", "content": "joined",
         "author": {"name": "ada"}, "attachments": []},
        {"id": "11", "type": "Default", "timestamp": "2023-05-08T14:00:00+00:00", "content": "The kettle broke.",
         "author": {"name": "ada", "nickname": "Ada"}, "attachments": [{"fileName": "kettle.png"}]},
        {"id": "12", "type": "Reply", "timestamp": "2023-05-08T16:00:00.1234567+02:00", "content": "Again?",
         "author": {"name": "ben"}, "attachments": [], "reference": {"messageId": "11"}},
    ],
}  # fmt: skip


def test_a_channel_of_discord_becomes_turns_without_what_discord_wrote() -> None:
    results = items(DISCORD)
    assert utterances(results) == [("Ada", "The kettle broke.\n[shares kettle.png]"), ("ben", "Again?")]
    reply = results[1]
    assert isinstance(reply, Turn)
    assert (reply.graph, reply.session, reply.at) == ("discord-Tea-room-general", "2023-05-08", TWO_PM + 123)
    assert reply.metadata["reply_to"] == "11"


MESSENGER = {
    "title": "Zoë",
    "participants": [{"name": "Ada"}, {"name": "Zoë"}],
    "thread_path": "inbox/zoe_1",
    "messages": [
        {"sender_name": "Zoë", "timestamp_ms": TWO_PM + 2_000, "photos": [{"uri": "x.jpg"}]},
        {"sender_name": "Ada", "timestamp_ms": TWO_PM + 1_000, "content": "oops", "is_unsent": True},
        {"sender_name": "Ada", "timestamp_ms": TWO_PM, "content": "Grüße aus 深圳 🐈"},
    ],
}


def mistaken(value: Any) -> Any:
    """Write text as Meta does: each byte of UTF-8 as a character."""
    if isinstance(value, str):
        return value.encode().decode("latin-1")
    if isinstance(value, list):
        return [mistaken(each) for each in value]
    return {key: mistaken(each) for key, each in value.items()} if isinstance(value, dict) else value


@pytest.mark.parametrize("chat", [MESSENGER, mistaken(MESSENGER)], ids=["as it is", "as Meta writes it"])
def test_metas_messages_come_oldest_first_and_in_their_own_letters(chat: dict[str, Any]) -> None:
    results = items(chat, graph="me")
    assert utterances(results) == [("Ada", "Grüße aus 深圳 🐈"), ("Zoë", "[shares a photo]")]


def test_an_encrypted_chat_of_messenger_has_other_names_for_the_same() -> None:
    message = {"senderName": "Ada", "timestamp": TWO_PM, "text": "Hi", "type": "text", "isUnsent": False, "media": []}
    chat = {"threadName": "Ben_3", "participants": ["Ada", "Ben"], "messages": [message]}
    assert utterances(items(chat)) == [("Ada", "Hi")]


def test_an_export_of_instagram_is_read_from_its_folder(tmp_path: Path) -> None:
    chat = tmp_path / "your_instagram_activity" / "messages" / "inbox" / "zoe_1"
    chat.mkdir(parents=True)
    (chat / "message_1.json").write_text(json.dumps(mistaken(MESSENGER)))
    assert len(utterances(list(read_folder(tmp_path)))) == 2


GEMINI = [
    {"header": "Gemini Apps", "title": "Gave feedback", "time": "2023-05-08T14:05:00Z"},
    {"header": "Gemini Apps", "title": "Prompted what is a kettle?", "time": "2023-05-08T14:00:00.000Z",
     "safeHtmlItem": [{"html": "<p>A pot &amp; a spout:</p><ul><li>it boils</li></ul>"}]},
]  # fmt: skip


def test_prompts_to_gemini_and_its_answers_become_turns() -> None:
    assert utterances(items(GEMINI)) == [("user", "what is a kettle?"), ("assistant", "A pot & a spout:\nit boils")]
    assert [item.at for item in items(GEMINI) if isinstance(item, Turn)] == [TWO_PM, TWO_PM]


def test_a_takeout_is_read_from_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "Takeout" / "My Activity" / "Gemini Apps"
    folder.mkdir(parents=True)
    (folder / "MyActivity.json").write_text(json.dumps(GEMINI))
    assert len(utterances(list(read_folder(tmp_path)))) == 2


def test_memories_of_mem0_become_turns_of_whom_they_are_about() -> None:
    memory = {"id": "m1", "memory": "Likes tea", "hash": "x", "user_id": "ada", "metadata": {"kind": "food"}}
    (turn,) = items({"results": [{**memory, "created_at": "2023-05-08T07:00:00-07:00"}]})
    assert isinstance(turn, Turn)
    assert (turn.id, turn.graph, turn.speaker, turn.text, turn.at) == ("m1", "mem0-ada", "ada", "Likes tea", TWO_PM)
    assert turn.metadata == {"kind": "food", "origin": "import:mem0"}
    assert utterances(items([memory], graph="me")) == [("ada", "Likes tea")]


MESSAGES = [
    {"role": "system", "content": "You are helpful."},
    {"role": "developer", "content": "Be brief."},
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": [{"type": "text", "text": "Hello"}]},
]


@pytest.mark.parametrize("content", [MESSAGES, [{"messages": MESSAGES}], {"messages": MESSAGES}])
def test_messages_with_roles_become_turns_without_the_prompts_of_the_system(content: Any) -> None:
    assert utterances(items(content, graph="me")) == [("user", "Hi"), ("assistant", "Hello")]


def test_a_table_becomes_turns_whatever_its_columns_are_called() -> None:
    table = 'Timestamp;Author;Message;mood\n2023-05-08T16:00;Ada;"Hi; ""Ben""";good\n;Ben;Hello;\n\n'
    results = items(table, "chat.csv", "me", timezone="Europe/Berlin")
    assert utterances(results) == [("Ada", 'Hi; "Ben"'), ("Ben", "Hello")]
    first, second = results
    assert isinstance(first, Turn)
    assert isinstance(second, Turn)
    assert (first.at, second.at) == (TWO_PM, None)
    assert first.metadata == {"mood": "good", "origin": "import:csv"}


def test_a_row_that_can_be_no_turn_is_told_and_the_next_one_is_read() -> None:
    results = items("graph,speaker,text,at\nme,Ada,Hi,1683554400\nme,Ada,Hello,2023-05-08\n", "chat.csv")
    assert isinstance(results[0], BadLine)
    assert "row 2: " in results[0].description
    assert utterances(results[1:]) == [("Ada", "Hello")]


def test_a_table_without_a_text_is_refused_with_the_names_that_columns_may_have() -> None:
    with pytest.raises(InvalidMessageError, match="one for the text"):
        items("a,b\n1,2\n", "chat.csv", "me")


def test_lines_with_names_before_them_are_a_transcript() -> None:
    talk = "Ada: The kettle broke: again.\n\nBen Müller: Then we buy one\nthat whistles.\n张伟：好的\n"
    results = items(talk, "talk.txt", "me")
    ben, wei = ("Ben Müller", "Then we buy one\nthat whistles."), ("张伟", "好的")
    assert utterances(results) == [("Ada", "The kettle broke: again."), ben, wei]
    assert {item.session for item in results if isinstance(item, Turn)} == {"talk"}


@pytest.mark.parametrize("text", ["Once upon a time.\nThere was: nothing.\nThe end.", "http://example.org\n"])
def test_prose_is_no_transcript(text: str) -> None:
    with pytest.raises(InvalidMessageError, match="none of the formats"):
        detect(text.encode(), "story.txt")


@pytest.mark.parametrize(
    ("line", "order"),
    [
        ("08/05/2023 à 14:00 - Ada: Bonjour", "dmy"),
        ("08/05/2023, 14:00 - Ada: Bonjour", "dmy"),
        ("2023. 5. 8. 오후 2:00, Ada : Bonjour", None),
        ("2023년 5월 8일 오후 2:00, Ada : Bonjour", None),
        ("[2023. 5. 8. 오후 2:00:00] Ada: Bonjour", None),
        ("8.5.2023 klo 14.00 - Ada: Bonjour", "dmy"),
        ("[8.5.2023 klo 14.00.00] Ada: Bonjour", "dmy"),
        ("٨\u200f/٥\u200f/٢٠٢٣, ٢:٠٠ م - Ada: Bonjour", "dmy"),
        ("[٨\u200f/٥\u200f/٢٠٢٣، ٢:٠٠:٠٠ م] Ada: Bonjour", "dmy"),
    ],
)
def test_whatsapp_writes_dates_as_the_phone_speaks(line: str, order: str | None) -> None:
    options = {} if order is None else {"date_order": order}
    results = items(line + "\n", "WhatsApp Chat with Ada.txt", **options)
    assert utterances(results) == [("Ada", "Bonjour")]
    assert [item.at for item in results if isinstance(item, Turn)] == [TWO_PM]


def test_a_folder_is_not_searched_below_its_top(tmp_path: Path) -> None:
    below = tmp_path / "Downloads" / "export"
    below.mkdir(parents=True)
    (below / "conversations.json").write_text(json.dumps(CLAUDE))
    with pytest.raises(InvalidMessageError, match="holds no file: name a file, or the folder of an export"):
        read_folder(tmp_path)
    assert len(utterances(list(read_folder(below)))) == 2


@pytest.mark.parametrize("content", [CLAUDE, DISCORD, MESSENGER, GEMINI, MESSAGES])
def test_importing_again_gives_the_same_ids(content: Any) -> None:
    ids = [item.id for item in items(content, graph="me") if isinstance(item, Turn)]
    assert ids == [item.id for item in items(content, graph="me") if isinstance(item, Turn)]
    assert len(set(ids)) == len(ids)
