"""Telegram and WhatsApp: exported chats become turns."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from emgas.errors import InvalidMessageError
from emgas.messages.turns import Turn
from tests.support.chats import (
    ANDROID,
    AT,
    CHAT,
    IPHONE,
    items,
    reasons,
    telegram,
    turns,
    zipped,
)


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
    results = items(orjson.dumps({**CHAT, "messages": [broken, telegram(2)]}), format="telegram")
    assert [description.startswith(reason) for description in reasons(results)] == [True]
    assert len(results) == 2


@pytest.mark.parametrize("raw", [b"[]", b"{}", b'{"chats":5}', b'{"messages":[]}', b'{"id":1,"messages":5}', b"{"])
def test_what_is_no_telegram_export_is_one_bad_line(raw: bytes) -> None:
    assert len(reasons(items(raw, format="telegram"))) == 1


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
    with pytest.raises(InvalidMessageError, match="say which graph"):
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
    with pytest.raises(InvalidMessageError, match=r"could be day or month first: say which \(--date-order dmy"):
        items(b"5/8/23, 1:56 PM - Ada: Hi", graph="ada")
    with pytest.raises(InvalidMessageError, match="not all of one order"):
        items(b"5/13/23, 1:56 PM - Ada: Hi\n13/5/23, 1:56 PM - Ada: Hi", graph="ada")
    with pytest.raises(InvalidMessageError, match="date-order: must be one of"):
        items(b"5/8/23, 1:56 PM - Ada: Hi", graph="ada", date_order="american")
    with pytest.raises(InvalidMessageError, match="timezone: there is no"):
        items(IPHONE.encode(), graph="ada", timezone="../../etc/passwd")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"Dear diary", "line: begins with no date"),
        (b"[31/02/2023, 13:56:02] Ada: Hi", "date: is none in the order dmy"),
        (b"[01/02/2023, 25:56:02] Ada: Hi", "date: is none in the order dmy"),
        (b"[01/02/2023, 13:56:02 PM] Ada: Hi", "date: is none in the order dmy"),
        (b"[01/02/2023, 13:56:02] Ada: \xff\xfe", "text: holds a lone surrogate, as what is not in UTF-8"),
        (b"[01/02/2023, 13:56:02] Ada: x\x00", "text: holds the character U+0000"),
        (b"[01/02/2023, 13:56:02] " + b"A" * 300 + b": Hi", "speaker: "),
    ],
)
def test_what_is_wrong_in_a_whatsapp_chat_is_reported_and_the_rest_is_read(line: bytes, reason: str) -> None:
    results = items(line + b"\n" + IPHONE.encode(), graph="ada", format="whatsapp", date_order="dmy")
    assert [description.startswith(reason) for description in reasons(results)] == [True]
    assert len(results) == 4
