"""The exports of chat programs: what becomes a turn, what is left out, what is reported, however hostile the bytes."""

from __future__ import annotations

import io
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emgas.errors import InvalidMessage
from emgas.formats import FORMATS, BadLine, Item, Options, archives, detect, documents, read, read_folder
from emgas.formats.lines import graph_named
from emgas.messages import Turn

AT = 1_683_554_160_000  # 2023-05-08 13:56 UTC


def items(
    raw: bytes, name: str = "export", graph: str | None = None, format: str | None = None, **options: str
) -> list[Item]:
    return list(read(io.BytesIO(raw), name, graph, format, Options(**options)))


def turns(found: list[Item]) -> list[Turn]:
    assert [item for item in found if isinstance(item, BadLine)] == []
    return [item for item in found if isinstance(item, Turn)]


def reasons(found: list[Item]) -> list[str]:
    return [item.reason for item in found if isinstance(item, BadLine)]


def zipped(files: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", compression) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return made.getvalue()


# ── ChatGPT ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def message(node: str, parent: str | None, role: str, *parts: Any, **changes: Any) -> tuple[str, dict[str, Any]]:
    said = {
        "id": node,
        "author": {"role": role},
        "create_time": 1_683_554_160.5,
        "content": {"content_type": "text", "parts": list(parts)},
        "metadata": {},
        "recipient": "all",
    }
    return node, {"id": node, "parent": parent, "children": [], "message": said | changes}


def conversation(*nodes: tuple[str, dict[str, Any]], **changes: Any) -> dict[str, Any]:
    mapping = {"root": {"id": "root", "parent": None, "message": None}, **dict(nodes)}
    there = {"title": "A cat", "create_time": 1_683_554_100.0, "conversation_id": "c-1", "mapping": mapping}
    return there | {"current_node": nodes[-1][0] if nodes else "root"} | changes


CHATGPT = conversation(
    message("m1", "root", "system", "You are kind."),
    message("m2", "m1", "user", "secret", metadata={"is_visually_hidden_from_conversation": True}),
    message("m3", "m2", "user", "We adopted a ginger cat.", {"content_type": "image_asset_pointer", "width": 3}),
    message("m4a", "m3", "assistant", "The answer of another branch."),
    message("m4", "m3", "assistant", "search('cats')", recipient="browser"),
    message("m5", "m4", "tool", "results"),
    message("m6", "m5", "assistant", content={"content_type": "thoughts", "thoughts": []}),
    message("m7", "m6", "assistant", "Lovely!", create_time=None),
)


def test_the_branch_that_chatgpt_shows_becomes_turns() -> None:
    first, second = turns(items(orjson.dumps([CHATGPT]), "conversations.json"))
    assert first == Turn(
        id="m3",
        graph="chatgpt-c-1",
        session="c-1",
        speaker="user",
        role="user",
        text="We adopted a ginger cat.\n[shares an image]",
        at=AT + 500,
        metadata={"origin": "import:chatgpt", "title": "A cat"},
    )
    assert (second.id, second.text, second.at) == ("m7", "Lovely!", AT - 60_000)


@pytest.mark.parametrize("names", [["conversations.json"], ["conversations-000.json", "conversations-001.json"]])
def test_chatgpts_zip_is_read_as_it_came(names: list[str], tmp_path: Path) -> None:
    other = orjson.loads(orjson.dumps(CHATGPT).replace(b'"c-1"', b'"c-2"'))
    files = {name: orjson.dumps([each]) for name, each in zip(names, [CHATGPT, other], strict=False)}
    files |= {"chat.html": b"<html>", "user.json": b"{}", "dalle/conversations.json.png": b""}
    found = turns(items(zipped(files), "export.zip", "me"))
    assert [turn.text for turn in found[::2]] == ["We adopted a ginger cat.\n[shares an image]"] * len(names)
    assert {turn.graph for turn in found} == {"me"}
    assert {turn.session for turn in found} == {"c-1", "c-2"} if len(names) > 1 else {"c-1"}
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    assert list(read_folder(tmp_path, "me")) == found


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (5, "conversation: must be an object"),
        ({"mapping": []}, "conversation: must be an object"),
        ({**CHATGPT, "conversation_id": None}, "conversation_id: is missing"),
        ({**CHATGPT, "current_node": None}, "current_node: is missing"),
        ({**CHATGPT, "current_node": "gone"}, "mapping: lacks a message"),
        (conversation(message("m1", "gone", "user", "Hi")), "mapping: lacks a message"),
        (conversation(("m1", {"parent": "root", "message": 5})), "message: must be an object"),
        (conversation(message("m1", "root", "user", "Hi", content=5)), "message: content: must be"),
        (conversation(message("m1", "root", "user", "Hi", id=None)), "message: id: must be"),
        (conversation(message("m1", "root", "user", "Hi", create_time="x")), "message: time: must be"),
        (conversation(message("m1", "root", "user", "Hi", create_time=1e300)), "message: time: must be"),
        (conversation(message("m1", "root", "user", "x" * 40_000)), "message: text: is 40000 bytes"),
    ],
)
def test_what_is_wrong_in_one_chatgpt_conversation_is_reported_and_the_rest_is_read(broken: Any, reason: str) -> None:
    found = items(orjson.dumps([broken, CHATGPT]), format="chatgpt")
    assert [told.startswith(reason) for told in reasons(found)] == [True]
    assert turns([item for item in found if isinstance(item, Turn)]) == turns(items(orjson.dumps([CHATGPT])))


def test_parents_that_go_round_in_a_circle_come_to_an_end() -> None:
    circle = conversation(message("m1", "m2", "user", "One"), message("m2", "m1", "assistant", "Two"))
    assert [turn.text for turn in turns(items(orjson.dumps([circle])))] == ["One", "Two"]


# ── ShareGPT ─────────────────────────────────────────────────────────────────────────────────────────────────────────

SHAREGPT = {"id": "x1", "conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello"}]}


@pytest.mark.parametrize(
    "raw", [orjson.dumps([SHAREGPT, SHAREGPT]), orjson.dumps(SHAREGPT) + b"\n" + orjson.dumps(SHAREGPT)]
)
def test_sharegpt_is_read_as_an_array_and_as_lines(raw: bytes) -> None:
    first, second, again, _ = turns(items(raw, "data.json"))
    assert (first.graph, first.session, first.speaker, first.role, first.text) == (
        "sharegpt-x1",
        "x1",
        "human",
        "user",
        "Hi",
    )
    assert (second.speaker, second.role, second.at) == ("gpt", "assistant", None)
    assert first.id == again.id != second.id


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"[5]", "conversation: must be an object"),
        (b'{"conversations":[]}', "id: is missing"),
        (b'{"id":"x","conversations":[{"from":"alien","value":"x"}]}', "conversations[0]: must be"),
        (b'{"id":"x","conversations":[{"from":"gpt","value":5}]}', "conversations[0]: must be"),
        (b'{"id":"x","conversations":[', "conversation: is not valid JSON"),
        (b"[", "file: is not valid JSON"),
    ],
)
def test_what_is_no_sharegpt_conversation_is_a_bad_line(raw: bytes, reason: str) -> None:
    (told,) = reasons(items(raw, format="sharegpt"))
    assert told.startswith(reason)


def test_sharegpt_without_ids_goes_into_a_graph_that_is_named() -> None:
    nameless = {"conversations": SHAREGPT["conversations"]}
    found = turns(items(orjson.dumps([nameless, nameless]), "x", "ada"))
    assert {turn.session for turn in found} == {"conversation-1", "conversation-2"}
    assert len({turn.id for turn in found}) == 4


# ── Slack ────────────────────────────────────────────────────────────────────────────────────────────────────────────

USERS = [
    {"id": "U1", "name": "ada", "profile": {"display_name": "Ada", "real_name": "Ada L"}},
    {"id": "U2", "name": "eve", "profile": {"display_name": "", "real_name": "Eve"}},
    {"id": "U3"},
    5,
]
TEXT = "Hi <@U2>, see <https://emgas.example|this> &amp; <#C1|general>"
DAY = [
    {"type": "message", "user": "U1", "text": TEXT, "ts": "1683554160.000200"},
    {"type": "message", "subtype": "channel_join", "user": "U2", "text": "joined", "ts": "1683554161.000000"},
    {"type": "message", "user": "U2", "text": "Sure", "ts": "1683554162.000100", "thread_ts": "1683554162.000100"},
    {"type": "message", "user": "U9", "text": "<!here>", "ts": "1683554163.5", "thread_ts": "1683554162.000100"},
    {"type": "message", "user": "U1", "text": "", "files": [{"name": "cat.png"}, 5], "ts": "1683554164.000000"},
    {"type": "message", "subtype": "bot_message", "username": "ci", "text": "green", "ts": "1683554165.000000"},
    {"type": "message", "user": "U1", "text": "", "ts": "1683554166.000000"},
]
SLACK = {
    "channels.json": b"[]",
    "users.json": orjson.dumps(USERS),
    "general/2023-05-08.json": orjson.dumps(DAY),
    "random talk/2023-05-08.json": orjson.dumps(DAY[:1]),
}


def test_slacks_zip_becomes_turns_with_names_threads_and_times() -> None:
    found = turns(items(zipped(SLACK), "slack.zip"))
    first, sure, here, cat, bot, other = found
    assert first == Turn(
        id="general/1683554160.000200",
        graph="slack-general",
        session="general/2023-05-08",
        speaker="Ada",
        text="Hi @Eve, see this & #general",
        at=AT,
        metadata={"origin": "import:slack", "channel": "general"},
    )
    assert sure.session == here.session == "general/1683554162.000100"
    assert (here.speaker, here.text, here.at) == ("U9", "@here", AT + 3500)
    assert cat.text == "[shares a file: cat.png] [shares a file]"
    assert (bot.speaker, bot.text) == ("ci", "green")
    assert (other.graph, other.id) == ("slack-random-talk", "random talk/1683554160.000200")


def test_slacks_folder_is_the_same_as_its_zip(tmp_path: Path) -> None:
    for name, content in SLACK.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    (tmp_path / "general" / "2023-05-09.json").symlink_to("/etc/passwd")
    assert list(read_folder(tmp_path)) == items(zipped(SLACK))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"users.json": b"{"}, "users.json: "),
        ({"users.json": b"{}"}, "users.json: must be a JSON array"),
        ({"general/2023-05-09.json": b"5"}, "general/2023-05-09.json: must be a JSON array"),
        ({"general/2023-05-09.json": b"[5]"}, "general/2023-05-09.json, message 1: must be an object"),
        ({"general/2023-05-09.json": b'[{"text":"x","user":"U1","ts":5}]'}, "general/2023-05-09.json, message 1: ts"),
        (
            {"general/2023-05-09.json": b'[{"text":"x","ts":"1683554160.0"}]'},
            "general/2023-05-09.json, message 1: speaker",
        ),
        ({"general/2023-05-09.json": b'[{"text":5,"ts":"1683554160.0"}]'}, "general/2023-05-09.json, message 1: text"),
    ],
)
def test_what_is_wrong_in_a_slack_export_is_reported_and_the_rest_is_read(
    change: dict[str, bytes], reason: str
) -> None:
    found = items(zipped(SLACK | change))
    assert [told.startswith(reason) for told in reasons(found)] == [True]
    assert len(found) == 7


def test_one_file_of_a_slack_export_is_not_enough() -> None:
    with pytest.raises(InvalidMessage, match="import that, or the folder"):
        items(orjson.dumps(DAY), format="slack")


# ── Telegram ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def telegram(id: int, **changes: Any) -> dict[str, Any]:
    there = {"id": id, "type": "message", "date": "2023-05-08T15:56:00", "date_unixtime": "1683554160", "from": "Ada"}
    return {**there, "from_id": "user7", "text": "Hi", **changes}


CHAT = {
    "name": "Ada",
    "type": "personal_chat",
    "id": 7,
    "messages": [
        telegram(1, type="service", action="phone_call", text=""),
        telegram(2, text=["see ", {"type": "link", "text": "emgas.example"}, " !"], reply_to_message_id=1),
        telegram(3, **{"from": None}, photo="photos/1.jpg", text="Look", forwarded_from="Eve"),
        telegram(4, text="", media_type="sticker", sticker_emoji="😀", file="s.webp"),
        telegram(5, text=""),
    ],
}


@pytest.mark.parametrize("indent", [0, orjson.OPT_INDENT_2])
@pytest.mark.parametrize("chats", [CHAT, {"about": "…", "chats": {"about": "…", "list": [CHAT]}}])
def test_telegrams_chats_become_turns(chats: dict[str, Any], indent: int) -> None:
    raw = orjson.dumps(chats, option=indent)
    first, photo, sticker = turns(items(raw, "result.json"))
    assert first == Turn(
        id="7/2",
        graph="telegram-Ada",
        session="7/2023-05-08",
        speaker="Ada",
        text="see emgas.example !",
        at=AT,
        metadata={"origin": "import:telegram", "chat": "Ada", "reply_to": 1},
    )
    assert (photo.speaker, photo.text, photo.metadata["forwarded_from"]) == ("user7", "Look [shares a photo]", "Eve")
    assert sticker.text == "[shares a sticker 😀]"
    assert turns(items(zipped({"ChatExport/result.json": raw}))) == [first, photo, sticker]


def test_an_old_telegram_export_has_local_times() -> None:
    old = {**CHAT, "messages": [telegram(1, date_unixtime=None)]}
    (turn,) = turns(items(orjson.dumps(old), format="telegram", timezone="Europe/Berlin"))
    assert turn.at == AT


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (telegram(1, text=5), "message 1: text: must be"),
        (telegram(1, text=[{"type": "x"}]), "message 1: text: must be"),
        (telegram(1, date_unixtime="soon"), "message 1: time: must be"),
        (telegram(1, date_unixtime="900000000000"), "message 1: date: lies outside"),
        (telegram(1, date_unixtime=None, date="soon"), "message 1: date: must be"),
        ({"type": "message"}, "message: must be an object"),
        ([], "message: must be an object"),
    ],
)
def test_a_broken_telegram_message_is_a_bad_line_and_its_neighbours_are_read(broken: Any, reason: str) -> None:
    found = items(orjson.dumps({**CHAT, "messages": [broken, telegram(2)]}), format="telegram")
    assert [told.startswith(reason) for told in reasons(found)] == [True]
    assert len(found) == 2


@pytest.mark.parametrize("raw", [b"[]", b"{}", b'{"chats":5}', b'{"messages":[]}', b'{"id":1,"messages":5}', b"{"])
def test_what_is_no_telegram_export_is_one_bad_line(raw: bytes) -> None:
    assert len(reasons(items(raw, format="telegram"))) == 1


# ── WhatsApp ─────────────────────────────────────────────────────────────────────────────────────────────────────────

IPHONE = """\ufeff\u200e[13/05/2023, 13:56:02] Family: \u200eMessages and calls are end-to-end encrypted.
[13/05/2023, 13:56:03] Ada: We adopted a cat.
It is ginger: really.
\u200e[13/05/2023, 13:57:00] ~\u202fEve: \u200eimage omitted
[13/05/2023, 13:58:00] Eve: ok
[13/05/2023, 13:58:00] Eve: ok
[13/05/2023, 13:58:30] Eve created group "x"
"""
ANDROID = """5/13/23, 1:56\u202fPM - Messages and calls are end-to-end encrypted.
5/13/23, 1:56\u202fPM - Ada: We adopted a cat.
5/13/23, 12:01 AM - Eve: <Media omitted>
5/13/23, 12:02 a.m. - Eve: midnight
"""


def test_an_iphones_chat_becomes_turns_of_several_lines() -> None:
    first, ok, again = turns(items(IPHONE.encode(), "WhatsApp Chat - Ada.txt", timezone="Europe/Berlin"))
    assert (first.graph, first.session, first.speaker) == ("whatsapp-Ada", "2023-05-13", "Ada")
    assert first.text == "We adopted a cat.\nIt is ginger: really."
    assert first.at == 1_683_978_963_000
    assert (ok.text, ok.at) == (again.text, again.at)
    assert again.id == f"{ok.id}-2"


def test_an_androids_chat_with_twelve_hours_becomes_turns() -> None:
    first, midnight = turns(items(ANDROID.encode(), "WhatsApp Chat with Ada.txt"))
    assert (first.text, first.at) == ("We adopted a cat.", 1_683_986_160_000)
    assert midnight.at == 1_683_936_120_000


def test_a_longer_export_of_the_same_chat_has_the_same_ids() -> None:
    short = turns(items(IPHONE.encode(), graph="ada"))
    longer = turns(items((IPHONE + "[14/05/2023, 10:00:00] Ada: more\n").encode(), graph="ada"))
    assert [turn.id for turn in longer[:3]] == [turn.id for turn in short]


def test_whatsapps_zip_is_read_and_named_by_its_file() -> None:
    raw = zipped({"_chat.txt": IPHONE.encode(), "00000-PHOTO.jpg": b"\xff\xd8"})
    assert {turn.graph for turn in turns(items(raw, "WhatsApp Chat - Ada.zip"))} == {"whatsapp-Ada"}
    with pytest.raises(InvalidMessage, match="say which graph"):
        items(IPHONE.encode(), "_chat.txt")


@pytest.mark.parametrize(
    ("line", "order", "at"),
    [
        ("[2023/5/8 下午1:56:00] Ada: Hi", None, AT),
        ("2023-05-08, 13:56 - Ada: Hi", None, AT),
        ("08.05.23, 13:56 - Ada: Hi", "dmy", AT),
        ("5/8/23, 1:56 PM - Ada: Hi", "mdy", AT),
        ("[08.05.23, 13.56.00] Ada: Hi", "dmy", AT),
        ("23/5/8, 13:56 - Ada: Hi", "ymd", AT),
        ("8/5/2023 13:56 - Ada: Hi", "dmy", AT),
    ],
)
def test_dates_are_read_in_every_way_that_phones_write_them(line: str, order: str | None, at: int) -> None:
    options = {"date_order": order} if order else {}
    (turn,) = turns(items(line.encode(), graph="ada", **options))
    assert (turn.at, turn.text) == (at, "Hi")


def test_a_chat_whose_dates_do_not_tell_their_order_needs_it() -> None:
    with pytest.raises(InvalidMessage, match="could be day or month first: say dmy, mdy or ymd"):
        items(b"5/8/23, 1:56 PM - Ada: Hi", graph="ada")
    with pytest.raises(InvalidMessage, match="not all of one order"):
        items(b"5/13/23, 1:56 PM - Ada: Hi\n13/5/23, 1:56 PM - Ada: Hi", graph="ada")
    with pytest.raises(InvalidMessage, match="date-order: must be one of"):
        items(b"5/8/23, 1:56 PM - Ada: Hi", graph="ada", date_order="american")
    with pytest.raises(InvalidMessage, match="timezone: there is no"):
        items(IPHONE.encode(), graph="ada", timezone="../../etc/passwd")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"Dear diary", "line: begins with no date"),
        (b"[31/02/2023, 13:56:02] Ada: Hi", "date: is none in the order dmy"),
        (b"[01/02/2023, 25:56:02] Ada: Hi", "date: is none in the order dmy"),
        (b"[01/02/2023, 13:56:02 PM] Ada: Hi", "date: is none in the order dmy"),
        (b"[01/02/2023, 13:56:02] Ada: \xff\xfe", "text: holds a lone surrogate"),
        (b"[01/02/2023, 13:56:02] Ada: x\x00", "text: holds the character U+0000"),
        (b"[01/02/2023, 13:56:02] " + b"A" * 300 + b": Hi", "speaker: "),
        (b"[01/02/2023, 13:56:02] Ada: Hi\n" + b"line\n" * 20_000, "text: is "),
    ],
)
def test_what_is_wrong_in_a_whatsapp_chat_is_reported_and_the_rest_is_read(line: bytes, reason: str) -> None:
    found = items(line + b"\n" + IPHONE.encode(), graph="ada", format="whatsapp", date_order="dmy")
    assert [told.startswith(reason) for told in reasons(found)] == [True]
    assert len(found) == 4


# ── archives ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_zip_bomb_is_given_up_before_it_is_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = zipped(SLACK | {"general/2023-05-09.json": b"[" + b" " * 20_000_000 + b"]"})
    assert reasons(items(bomb)) == [
        "general/2023-05-09.json: file: unpacks to more than 16777216 bytes: unpack the archive, and import the folder"
    ]
    monkeypatch.setattr(archives, "ARCHIVE_BYTES", 700)
    assert any("unpacks to more than" in reason for reason in reasons(items(zipped(SLACK))))
    monkeypatch.setattr(archives, "DOCUMENT_BYTES", 10)
    assert all("unpacks to more than 10 bytes" in reason for reason in reasons(items(zipped(SLACK))))


def test_a_zip_that_is_cut_off_or_packed_unusually_is_refused_in_words(tmp_path: Path) -> None:
    whole = zipped(SLACK)
    for cut in range(4, len(whole) - 1, 53):
        with pytest.raises(InvalidMessage, match="is not a whole ZIP"):
            items(whole[:cut])
    assert all("is packed unusually" in reason for reason in reasons(items(zipped(SLACK, zipfile.ZIP_BZIP2))))
    with pytest.raises(InvalidMessage, match="is no export of chatgpt, slack"):
        items(zipped({"holiday.jpg": b"x"}), "photos.zip")
    with pytest.raises(InvalidMessage, match="none of the files that an export of telegram has"):
        items(whole, format="telegram")
    with pytest.raises(InvalidMessage, match="is no export of chatgpt"):
        read_folder(tmp_path, format="jsonl")


def test_a_zip_whose_bytes_were_changed_is_reported() -> None:
    whole = zipped(SLACK)
    for place in range(0, len(whole), 11):
        flipped = whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :]
        try:
            found = items(flipped, format="slack")
        except InvalidMessage:
            continue
        assert all(isinstance(item, Turn | BadLine) for item in found)


def test_a_document_over_the_bound_is_refused_before_it_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "DOCUMENT_BYTES", 10)
    for format in ("chatgpt", "telegram", "sharegpt"):
        with pytest.raises(InvalidMessage, match="file: is over 10 bytes"):
            items(orjson.dumps([CHATGPT]), format=format)


# ── all of them ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("head", "format"),
    [
        (orjson.dumps([CHATGPT]), "chatgpt"),
        (orjson.dumps([SHAREGPT]), "sharegpt"),
        (orjson.dumps(SHAREGPT), "sharegpt"),
        (orjson.dumps(CHAT), "telegram"),
        (orjson.dumps(CHAT, option=orjson.OPT_INDENT_2), "telegram"),
        (IPHONE.encode(), "whatsapp"),
        (ANDROID.encode(), "whatsapp"),
    ],
)
def test_an_export_is_known_by_its_first_bytes(head: bytes, format: str) -> None:
    assert detect(head) == format


def test_a_backup_is_known_and_its_place_named() -> None:
    head = b'{"specversion":"1.0","id":"emgas/backup/1","source":"emgas.events","type":"io.emgas.backup.v1","data":{'
    with pytest.raises(InvalidMessage, match="`emgas import` reads it"):
        detect(head)


@pytest.mark.parametrize(
    ("name", "graph"),
    [("Ada", "x-Ada"), ("Ada L", "x-Ada-L"), ("general", "x-general")],
)
def test_a_plain_name_is_its_graph(name: str, graph: str) -> None:
    assert graph_named("x", name) == graph


@given(
    st.lists(st.text(min_size=1, max_size=200), min_size=2, max_size=2, unique_by=lambda name: name.replace(" ", "-"))
)
def test_graphs_of_two_chats_are_two_and_valid(names: list[str]) -> None:
    first, second = (graph_named("telegram", name) for name in names)
    assert first != second
    for graph in (first, second):
        Turn(id="1", graph=graph, speaker="x", text="")


FRAGMENTS = st.lists(
    st.sampled_from(
        [orjson.dumps(it) for it in ([CHATGPT], CHAT, [SHAREGPT], DAY)]
        + [
            IPHONE.encode(),
            ANDROID.encode(),
            zipped(SLACK),
            b"[",
            b"{",
            b'"',
            b"\xff",
            b"\x00",
            b"null",
            b"1e999",
            b"\n",
        ]
    )
    | st.binary(max_size=20),
    max_size=6,
).map(b"".join)


@settings(max_examples=200, deadline=None)
@given(raw=FRAGMENTS, cut=st.integers(0, 3000), format=st.sampled_from([None, *FORMATS]))
def test_whatever_the_bytes_are_nothing_but_invalid_message_is_raised(raw: bytes, cut: int, format: str | None) -> None:
    try:
        for item in read(io.BytesIO(raw[cut // 2 :]), "x.jsonl", "ada", format, Options(date_order="dmy")):
            assert isinstance(item, Turn | BadLine)
    except InvalidMessage:
        return


DEEP = b"[" * 900 + b"]" * 900
PLACES: dict[str, list[Any]] = {
    "chatgpt": ["deep", ["deep"], [conversation(message("m1", "root", "user", "deep"))]],
    "sharegpt": ["deep", ["deep"], [{"id": "x", "conversations": [{"from": "gpt", "value": "deep"}]}]],
    "telegram": ["deep", {"chats": {"list": ["deep"]}}, {**CHAT, "messages": [telegram(1, text="deep")]}],
    "slack": ["deep", ["deep"], [{"text": "deep"}], [{"text": "x", "ts": "1.0", "user": "deep"}]],
}


@pytest.mark.parametrize(("format", "place"), [(format, at) for format, places in PLACES.items() for at in places])
def test_deep_nesting_is_a_bad_line_wherever_it_stands(format: str, place: Any) -> None:
    raw = orjson.dumps(place).replace(b'"deep"', DEEP)
    raw = zipped({"general/2023-05-08.json": raw}) if format == "slack" else raw
    found = items(raw, graph="ada", format=format)
    assert [item for item in found if isinstance(item, Turn)] == []


def test_a_line_as_long_as_it_likes_takes_no_more_memory_than_a_bound() -> None:
    raw = IPHONE.encode() + b"x" * 100_000_000
    tracemalloc.start()
    found = items(raw, graph="ada")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [isinstance(item, BadLine) for item in found] == [False, False, False]
    assert peak < 250_000_000, "of which the raw bytes are 100 MB"


NAMES = [
    "id", "messages", "mapping", "m1", "current_node", "message", "text", "ts", "user", "from", "value", "type",
    "conversations", "chats", "list", "content", "parts", "author", "role", "parent", "date", "date_unixtime", "name",
    "files", "profile", "subtype", "thread_ts",
]  # fmt: skip
LEAVES = st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    LEAVES | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=6),
    max_leaves=40,
)


@settings(max_examples=300, deadline=None)
@given(value=JSON, format=st.sampled_from(["chatgpt", "sharegpt", "telegram", "slack"]))
def test_whatever_the_json_is_nothing_but_invalid_message_is_raised(value: Any, format: str) -> None:
    raw = orjson.dumps([value, value] if format != "telegram" else value)
    raw = zipped({"users.json": raw, "general/2023-05-08.json": raw}) if format == "slack" else raw
    for item in items(raw, graph="ada", format=format):
        assert isinstance(item, Turn | BadLine)
