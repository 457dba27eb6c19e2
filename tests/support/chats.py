"""Chats as other programs export them, small, and reading them."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import orjson

from emgas.importers.registry import BadLine, Item, Options, read
from emgas.messages.turns import Turn

AT = 1_683_554_160_000  # 2023-05-08 13:56 UTC


def items(
    raw: bytes, name: str = "export", graph: str | None = None, format: str | None = None, **options: str
) -> list[Item]:
    return list(read(io.BytesIO(raw), name, graph, format=format, options=Options(**options)))


def turns(result: list[Item]) -> list[Turn]:
    assert [item for item in result if isinstance(item, BadLine)] == []
    return [item for item in result if isinstance(item, Turn)]


def reasons(result: list[Item]) -> list[str]:
    return [item.reason for item in result if isinstance(item, BadLine)]


def zipped(files: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", compression) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return made.getvalue()


# ── ChatGPT ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def message(node: str, parent: str | None, role: str, *parts: Any, **changes: Any) -> tuple[str, dict[str, Any]]:
    fields = {
        "id": node,
        "author": {"role": role},
        "create_time": 1_683_554_160.5,
        "content": {"content_type": "text", "parts": list(parts)},
        "metadata": {},
        "recipient": "all",
    }
    return node, {"id": node, "parent": parent, "children": [], "message": fields | changes}


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


# ── ShareGPT ─────────────────────────────────────────────────────────────────────────────────────────────────────────

SHAREGPT = {"id": "x1", "conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello"}]}


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
