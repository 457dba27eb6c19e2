"""What a chat program writes itself is no memory: marks of deleted and edited messages."""

from __future__ import annotations

import subprocess
import sys
from io import BytesIO
from pathlib import Path
from typing import Any

import orjson
import pytest

from emgas.errors import InvalidMessageError
from emgas.importers.files.lines import Options
from emgas.importers.registry import read
from emgas.messages.turns import Turn
from tests.support.chats import CHAT, telegram, zipped
from tests.support.cli import ROOT, environment

OPTIONS = Options("dmy", "UTC")


def texts(words: str) -> list[str]:
    """Import a WhatsApp chat of one message beside another."""
    chat = f"[08/05/2023, 13:56:01] Ada: The kettle broke.\n[08/05/2023, 13:57:01] Ben: {words}\n"
    turns = read(BytesIO(chat.encode()), "WhatsApp Chat with Ada.txt", "ada", format="whatsapp", options=OPTIONS)
    return [turn.text for turn in turns if isinstance(turn, Turn)]


@pytest.mark.parametrize(
    "words",
    [
        "This message was deleted",
        "You deleted this message.",
        "Diese Nachricht wurde gelöscht.",
        "此消息已删除",
        "Ce message a été supprimé",
        "Vous avez supprimé ce message.",
        "Se eliminó este mensaje.",
        "Eliminaste este mensaje.",
        "Du hast diese Nachricht gelöscht.",
        "您已删除此消息",
        "您删除了此消息",
        "此訊息已被刪除",
        "This message was deleted by admin Eve.",
        "<Media omitted>",
        "<Medien ausgeschlossen>",
        "<Multimedia omitido>",
        "<Médias omis>",
        "<省略多媒体文件>",
        "\u200eimage omitted",
        "image omitted",
        "Bild weggelassen",
        "imagen omitida",
        "图片已忽略",
        "管理员删除了此消息",
        "管理員刪除了此訊息",
        "管理者がこのメッセージを削除しました",
        "관리자가 메시지를 삭제했습니다.",
        "null",
        "Missed voice call",
        "Missed video call at 5:04 PM",
        "Missed voice call, \u200eTap to call back",
        "Verpasster Sprachanruf",
        "Verpasster Videoanruf um 17:04 Uhr",
        "Llamada de voz perdida",
        "Videollamada perdida",
        "Appel vocal manqué",
        "Appel vidéo manqué à 17:04",
        "未接语音通话",
        "未接視訊通話",
        "不在着信（音声通話）",
        "ビデオ通話の不在着信",
        "부재중 음성통화",
        "부재중 영상 통화",
        "Waiting for this message. This may take a while.",
        "Warte auf diese Nachricht. Das kann einen Moment dauern.",
        "Esperando este mensaje. Esto puede tardar un poco.",
        "En attente de ce message. Cela peut prendre un moment.",
        "正在等待此消息。可能需要一些时间。",
        "正在等待此訊息。這可能需要一點時間。",
        "メッセージを待っています。しばらく時間がかかる場合があります。",
        "메시지를 기다리는 중입니다. 시간이 걸릴 수 있습니다.",
    ],
)
def test_what_whatsapp_wrote_itself_is_no_turn(words: str) -> None:
    assert texts(words) == ["The kettle broke."]


@pytest.mark.parametrize(
    "mark",
    [
        " \u200e<This message was edited>",
        " <This message was edited>",
        " <此消息已编辑>",
        " <Se editó este mensaje.>",
        " <Diese Nachricht wurde bearbeitet>",
        " <Ce message a été modifié>",
    ],
)
def test_the_mark_of_an_edited_message_is_no_part_of_it(mark: str) -> None:
    assert texts(f"It whistles again.{mark}") == ["The kettle broke.", "It whistles again."]


@pytest.mark.parametrize(
    "words",
    [
        "I saw that this message was deleted by Ada",
        "This message was deleted, why?",
        "你为什么删除了此消息？",
        "The image omitted the kettle.",
        "x <b>",
        "see <https://example.com>",
        "null and void",
        "Null",
        "I missed voice call number two",
        "Missed voice call, sorry!",
        "Missed video call at the hospital",
        "Waiting for this message.",
        "Ich hatte einen verpassten Anruf.",
        "Verpasster Sprachanruf von Oma, ruf sie an",
        "未接语音通话是你打的吗",
        "管理员为什么删除了此消息",
        "管理员删除了此消息，我很生气",
        "正在等待此消息",
        "不在着信があった",
    ],
)
def test_what_people_write_about_it_stays(words: str) -> None:
    assert texts(words)[1] == words


def imported(document: Any, name: str) -> list[str]:
    """Import a JSON export."""
    items = read(BytesIO(orjson.dumps(document)), name, "ada", format=None, options=OPTIONS)
    return [item.text for item in items if isinstance(item, Turn)]


def test_slacks_note_of_a_deleted_message_or_file_is_no_turn() -> None:
    day = [
        {"type": "message", "user": "U1", "text": "The kettle broke.", "ts": "1683554160.000200"},
        {"type": "message", "subtype": "tombstone", "user": "USLACKBOT", "text": "This message was deleted.",
         "hidden": True, "ts": "1683554161.000000", "thread_ts": "1683554161.000000", "reply_count": 1},
        {"type": "message", "subtype": "message_deleted", "hidden": True, "ts": "1683554162.0", "text": ""},
        {"type": "message", "subtype": "message_changed", "ts": "1683554163.0", "text": "The kettle whistles."},
        {"type": "message", "user": "U1", "text": "", "ts": "1683554164.0", "files": [{"mode": "tombstone"}]},
        {"type": "message", "user": "U1", "text": "It whistles again.", "ts": "1683554165.0",
         "edited": {"user": "U1", "ts": "1683554170.0"}},
    ]  # fmt: skip
    raw = zipped({"general/2023-05-08.json": orjson.dumps(day)})
    items = read(BytesIO(raw), "slack.zip", "ada", format="slack", options=OPTIONS)
    assert [item.text for item in items if isinstance(item, Turn)] == ["The kettle broke.", "It whistles again."]


def test_an_edited_message_of_telegram_or_discord_is_its_last_text_alone() -> None:
    chat = {**CHAT, "messages": [telegram(1, text="It whistles again.", edited="2023-05-08T16:00:00")]}
    assert imported(chat, "result.json") == ["It whistles again."]
    message = {"id": "11", "type": "Default", "timestamp": "2023-05-08T14:00:00+00:00", "content": "Good.",
               "timestampEdited": "2023-05-08T15:00:00+00:00", "author": {"name": "ada"}}  # fmt: skip
    answer = {**message, "id": "12", "type": "Reply", "content": "Yes.", "reference": {"messageId": None}}
    channel = {"guild": {"id": "1", "name": "Tea"}, "channel": {"id": "2", "name": "general"}}
    assert imported({**channel, "messages": [message, answer]}, "general.json") == ["Good.", "Yes."]


def test_a_file_that_telegram_did_not_export_leaves_a_note_in_our_words() -> None:
    absent = "(File not included. Change data exporting settings to download.)"
    chat = {**CHAT, "messages": [telegram(1, text="", photo=absent), telegram(2, text="", file=absent)]}
    assert imported(chat, "result.json") == ["[shares a photo]", "[shares a file]"]


def test_an_array_of_texts_is_not_taken_for_locomo() -> None:
    with pytest.raises(InvalidMessageError, match="none of the formats"):
        list(read(BytesIO(b'[{"text": "hello"}, {"text": "there"}]'), "a.json", "ada", format=None, options=OPTIONS))


def test_the_package_runs_as_the_command_also_beside_a_module_named_as_ours(tmp_path: Path) -> None:
    (tmp_path / "state.py").write_text("raise SystemExit('the wrong module')\n")
    command = [sys.executable, "-m", "emgas", "--version"]
    env = environment(tmp_path) | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("emgas ")


def test_a_program_beside_a_module_named_as_ours_is_told_to_rename_it(tmp_path: Path) -> None:
    (tmp_path / "state.py").write_text("MODE = 'mine'\n")
    (tmp_path / "bot.py").write_text("from emgas import Memory\nMemory(graph='ada').open()\n")
    env = environment(tmp_path) | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "bot.py"], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert f"NotInstalledError: {tmp_path / 'state.py'} has the name of a package of EMGAS: rename it" in done.stderr


def test_the_package_runs_as_the_command_in_a_clone(tmp_path: Path) -> None:
    env = environment(tmp_path) | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "emgas", "--version"], cwd=ROOT, env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("emgas ")
