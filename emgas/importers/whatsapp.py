"""WhatsApp's export of one chat: _chat.txt, alone or in its ZIP.  One message per line, or more; no ids, no time zone.

    [08/05/2023, 13:56:02] Ada: Hi        iPhone          5/8/23, 1:56 PM - Ada: Hi             Android
    and on with it                        the same message, going on
    08/05/2023 à 13:56 - Ada: …           French          8.5.2023 klo 13.56 - Ada: …           Finnish
    2023. 5. 8. 오후 1:56, Ada : …        Korean          ٨/٥/٢٠٢٣, ١:٥٦ م - Ada: …             Arabic

    graph     the given one, else whatsapp-<chat's name, from the file's>    session   the day, local
    id        a hash of time, speaker and text, and of how often they came   speaker   the name as it stands there
    at        the local time in the given time zone                          metadata  {"origin": "import:whatsapp"}

The order of day, month and year depends on the phone.  A year of four digits in front decides it, and so does any
number over 12 in the file; else set `date_order`.  WhatsApp's own messages are left out: a message without "name: ",
one that begins with the mark U+200E, <Media omitted> in any language, and the note in place of a message that was
deleted or could not be shown, or of a missed call.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, time, tzinfo
from pathlib import PurePosixPath
from typing import IO

from emgas.errors import InvalidMessageError
from emgas.importers.chat_format import Fit, Format, FormatSummary, Head
from emgas.importers.files.lines import (
    LINE_BYTES,
    BadLine,
    Item,
    Options,
    check_graph,
    graph_named,
    stable_id,
    turns_of,
)
from emgas.times import since_epoch

FILE = re.compile(r"(^|/)(_chat|WhatsApp[^/]*)\.txt$")
ORDERS = ("dmy", "mdy", "ymd")
AFTERNOON = ("p", "下", "오후", "م")  # what the second half of the day begins with
_MARK = "\u200e"
_DATE = (  # \d is a digit of any script; Arabic has marks of direction beside the slashes
    r"(?P<a>\d{1,4})(?:\u200f?[./-]\u200f?|년) ?(?P<b>\d{1,2})(?:\u200f?[./-]\u200f?|월) ?(?P<c>\d{1,4})(?:\.|일)?"
)
_NOON = r"(?P<noon>[AaPp]\.?\s?[Mm]\.?|上午|下午|ص|م)"
_TIME = rf"(?P<early>上午|下午|오전|오후)?\s?(?P<h>\d{{1,2}})[:.](?P<m>\d{{2}})(?:[:.](?P<s>\d{{2}}))?(?:\s?{_NOON})?"
_BETWEEN = r"[,،]?\s(?:à\s|klo\s)?"
_BRACKET = rf"\[{_DATE}{_BETWEEN}{_TIME}\]"
_DASH = rf"{_DATE}{_BETWEEN}{_TIME}(?:\s[-–]|,)".replace("?P<", "?P<x")  # Korean has a comma
# What WhatsApp writes in the place of a message that was deleted, by its sender or by an admin.
DELETED = re.compile(
    r"(This message was deleted( by admin [^\n]{1,100})?|You deleted this message( as admin)?"
    r"|Diese Nachricht wurde( von Admin [^\n]{1,100})? gelöscht|Du hast diese Nachricht( als Admin)? gelöscht"
    r"|(Se eliminó este mensaje|Este mensaje fue eliminado)( por el admin\. [^\n]{1,100})?|Eliminaste este mensaje"
    r"|Ce message a été supprimé( par l['’]admin [^\n]{1,100})?|Vous avez supprimé ce message"
    r"|Questo messaggio è stato eliminato|Hai eliminato questo messaggio"
    r"|(Esta m|M)ensagem (foi )?apagada|Você apagou esta mensagem|Apagou esta mensagem"
    r"|Dit bericht (is|werd) verwijderd|U hebt dit bericht verwijderd|Je hebt dit bericht verwijderd"
    r"|(Данное|Это) сообщение удалено|Вы удалили (данное|это) сообщение|Bu mesaj silindi|Bu mesajı sildiniz"
    r"|(此|该|这条)(消息|信息)已(被)?(删除|撤回)|(您|你)(已)?(删除|撤回)(了)?(此|该|这条|一条)(消息|信息)"
    r"|(此|該|這則)(訊息|信息)已(被)?(刪除|收回)|(您|你)(已)?(刪除|收回)(了)?(此|該|這則|一則)(訊息|信息)"
    r"|(管理员|管理員)(删除|刪除)了(此|该|這則|这条|該)(消息|信息|訊息)"
    r"|(此|该|这条)(消息|信息)已被管理员删除|(此|該|這則)(訊息|信息)已被管理員刪除"
    r"|管理者がこのメッセージを削除しました|このメッセージは管理者によって削除されました"
    r"|관리자가 (이 )?메시지를 삭제했습니다|관리자가 삭제한 메시지입니다"
    r"|このメッセージは削除されました|このメッセージを削除しました|삭제된 메시지입니다|메시지를 삭제했습니다)[.。]?"
)
# What it writes in the place of a photo or another file, where the mark U+200E got lost on the way.
OMITTED = re.compile(
    r"(image|video|audio|GIF|sticker|document|Contact card) omitted"
    r"|(Bild|Video|Audio|GIF|Sticker|Dokument|Kontaktkarte) weggelassen"
    r"|(imagen|audio|video|Video|GIF|sticker|documento|Tarjeta de contacto) omitid[oa]"
    r"|(image|vidéo|audio|GIF|sticker|document|Fiche contact) (absente?|omise?)"
    r"|(图像|图片|视频|音频|GIF|贴图|文档|文件)(已忽略|已省略)|忽略(图像|图片|视频|音频|贴图|文档|文件)"
)
# What it writes in the place of a call that was missed, and of a message that it could not show.
NOTES = re.compile(
    r"(null"
    r"|Missed (group )?(voice|video) call( at \d{1,2}[:.]\d{2}(\s?[AaPp][Mm])?)?(, Tap to call back)?"
    r"|Verpasster (Gruppen-?)?(Sprach|Video|sprach|video)anruf( um \d{1,2}[:.]\d{2}( Uhr)?)?"
    r"|(Llamada de voz|Videollamada|Llamada de video)( grupal)? perdida( a las? \d{1,2}[:.]\d{2})?"
    r"|Appel (vocal|vidéo)( de groupe)? manqué( à \d{1,2}[:.]\d{2})?"
    r"|(Chiamata vocale|Videochiamata) persa|(Chamada de (voz|vídeo)|Videochamada) perdida"
    r"|Gemiste (spraakoproep|video-?oproep)|Пропущенный (аудио|видео)звонок|Cevapsız (sesli|görüntülü) arama"
    r"|未接(语音|视频)(通话|来电)|未接(語音|視訊|視像|影像)(通話|來電)"
    r"|不在着信[（(](音声|ビデオ)通話[）)]|(音声|ビデオ)通話の?不在着信|부재중 (음성|영상) ?통화"
    r"|Waiting for this message\. This may take a while"
    r"|Warten? auf diese Nachricht\. (Das|Dies) kann (einen Moment|eine Weile|etwas) dauern"
    r"|Esperando este mensaje\. (Esto )?puede (tardar|demorar) (un poco|un momento|unos minutos)"
    r"|En attente de ce message\. (Cela|Ça) peut prendre (un moment|un certain temps|du temps|quelques instants)"
    r"|(正在)?等待(此|该|这条)(消息|信息)。(这|此过程)?可能需要(一些|一点|一段|较长)时间"
    r"|(正在)?等待(此|該|這則)(訊息|信息)。(這)?可能需要(一些|一點|一段|較長)時間"
    r"|(この)?メッセージを待っています。(少し|しばらく)時間がかかる(場合|こと)があります"
    r"|이? ?메시지를 기다리는 중(입니다)?\. (시간이|다소 시간이) 걸릴 수 있습니다)[.。]?"
)
WRITTEN = (DELETED, OMITTED, NOTES)  # by WhatsApp alone, if the whole message is one of them
# What it writes behind a message that was edited.
EDITED = re.compile(
    r"\s*(?:\u200e<[^<>\n]{1,100}>|<(?:This message was edited|Diese Nachricht wurde bearbeitet|Se editó este mensaje"
    r"|Ce message a été modifié|Questo messaggio è stato modificato|Mensagem editada|Dit bericht is bewerkt"
    r"|此(消息|訊息)已(被)?(编辑|編輯))[.。]?>)$"
)
HEADER = re.compile(rf"[\u200e\u200f\ufeff]*(?:{_BRACKET}|{_DASH})\s(?P<rest>.*)", re.DOTALL)


@dataclass
class _Message:
    """A message being read: its first line's number, its time, and its lines so far."""

    number: int
    when: datetime
    lines: list[str]
    size: int = field(default=0)

    def add(self, line: str) -> None:
        """Append a line; of a message that is too long to be read, only enough is kept to detect that."""
        if self.size <= LINE_BYTES:
            self.lines.append(line)
            self.size += len(line) + 1


def read(stream: IO[bytes], graph: str | None, options: Options) -> Iterator[Item]:
    """Yield the turns of a chat."""
    if graph is not None:
        check_graph(graph)
    zone, order = options.zone, _order(stream, options.date_order)
    graph = graph or _graph_of(options.name)
    seen: Counter[str] = Counter()
    day: date | None = None
    for message in _messages(stream, order):
        if isinstance(message, BadLine):
            yield message
            continue
        if message.when.date() != day:
            day, seen = message.when.date(), Counter()
        yield from _items(message, graph, zone, seen=seen)


def _graph_of(file: str) -> str:
    """Return the graph id of a chat, from its file's name: "WhatsApp Chat with Ada.txt"."""
    name = re.sub(r"^WhatsApp Chat( with| -)? ", "", PurePosixPath(file.replace("\\", "/")).stem)
    if name in ("", "-", "_chat"):
        raise InvalidMessageError(
            "graph: the file's name does not tell whose chat this is: say which graph it belongs to (--graph NAME)"
        )
    return graph_named("whatsapp", name)


def _order(stream: IO[bytes], date_order: str | None) -> str:
    """Return the order of day, month and year in `stream`: `date_order`, else the only order that fits all dates."""
    if date_order is not None and date_order not in ORDERS:
        raise InvalidMessageError(f"date-order: must be one of {', '.join(ORDERS)}")
    if date_order is not None:
        return date_order
    if not stream.seekable():
        raise InvalidMessageError("date-order: must be given for a chat that comes through a pipe: dmy, mdy or ymd")
    start = stream.tell()
    possible = _possible(stream)
    stream.seek(start)
    if len(possible) != 1:
        why = "could be day or month first" if possible else "are not all of one order"
        raise InvalidMessageError(f"date-order: the dates of this chat {why}: say which (--date-order dmy, mdy or ymd)")
    return possible.pop()


def _possible(stream: IO[bytes]) -> set[str]:
    """Return the orders in which all dates of a chat can be read; ymd only with years of four digits."""
    possible, seen = set(ORDERS), False
    for _, line in _lines(stream):
        if match := HEADER.match(line):
            a, b = _group(match, "a"), _group(match, "b")
            seen = True
            possible &= {"ymd"} if len(a) > 2 else {"dmy", "mdy"}
            possible -= {"mdy"} if int(a) > 12 else set()
            possible -= {"dmy"} if int(b) > 12 else set()
    return possible if seen else {"ymd"}  # without a message, it does not matter


def _group(match: re.Match[str], name: str) -> str:
    """Return the group `name` of either style, "" for none."""
    return match[name] or match[f"x{name}"] or ""


def _lines(stream: IO[bytes]) -> Iterator[tuple[int, str]]:
    number = 0
    while raw := stream.readline(LINE_BYTES):
        number += 1
        yield number, raw.decode(errors="surrogateescape").rstrip("\r\n")


def _messages(stream: IO[bytes], order: str) -> Iterator[_Message | BadLine]:
    """Yield the messages with all their lines, and a BadLine for each line outside any message."""
    current: _Message | None = None
    for number, line in _lines(stream):
        match = HEADER.match(line)
        if match is None:
            if current is not None:
                current.add(line)
            elif line.strip("\ufeff \u200e"):
                yield BadLine(number, _raw(line), "line: begins with no date and time, and no message comes before")
            continue
        if current is not None:
            yield current
        current = None
        try:
            current = _Message(number, _when(match, order), [])
            current.add(match["rest"])
        except ValueError:
            yield BadLine(number, _raw(line), f"date: is none in the order {order}: say another with date-order")
    if current is not None:
        yield current


def _when(match: re.Match[str], order: str) -> datetime:
    """Read a message's local time.  Raises ValueError."""
    parts = dict(zip(order, (int(_group(match, name)) for name in "abc"), strict=True))
    year = parts["y"] + 2000 if parts["y"] < 100 else parts["y"]
    hour = int(_group(match, "h"))
    noon = (_group(match, "noon") or _group(match, "early")).lower()
    if noon:
        if not 1 <= hour <= 12:
            raise ValueError
        hour = hour % 12 + (12 if noon.startswith(AFTERNOON) else 0)
    moment = time(hour, int(_group(match, "m")), int(_group(match, "s") or 0))
    return datetime.combine(date(year, parts["m"], parts["d"]), moment)


def _items(message: _Message, graph: str, zone: tzinfo, *, seen: Counter[str]) -> list[Item]:
    """Read a message as turns, several if it is long; none for messages that WhatsApp wrote."""
    text = "\n".join(message.lines).strip()
    if message.size > LINE_BYTES:
        return [BadLine(message.number, _raw(text), f"message: is over {LINE_BYTES} bytes: split it")]
    speaker, colon, words = text.partition(": ")
    words = EDITED.sub("", words.strip()).strip()
    if any(written.fullmatch(words.replace(_MARK, "")) for written in WRITTEN):
        return []
    if not colon or "\n" in speaker or not words or words.startswith(_MARK) or re.fullmatch(r"<[^<>\n]{1,100}>", words):
        return []
    speaker = speaker.strip(f"{_MARK}\u202a\u202c\u200f ")
    words = words.replace(_MARK, "")
    base = stable_id(graph, message.when.isoformat(), 0, text=f"{speaker}\x00{words}")
    seen[base] += 1
    fields = {
        "graph": graph,
        "session": message.when.date().isoformat(),
        "speaker": speaker,
        "text": words,
        "id": base if seen[base] == 1 else f"{base}-{seen[base]}",
        "at": since_epoch(message.when, zone),
        "metadata": {"origin": "import:whatsapp"},
    }
    try:
        return [*turns_of(fields)]
    except InvalidMessageError as error:
        return [BadLine(message.number, _raw(text), str(error))]


def _raw(line: str) -> bytes:
    return line.encode(errors="surrogateescape")[:LINE_BYTES]


def _matches(head: Head) -> Fit:
    return Fit.SURE if HEADER.match(head.first_line.decode(errors="replace")) else Fit.NO


FORMAT = Format(
    name="whatsapp",
    order=40,
    summary=FormatSummary(
        file="_chat.txt, or its ZIP",
        graph="`whatsapp-<chat>`, by the file's name",
        session="the day",
        time="as it stands there",
    ),
    matches=_matches,
    read=read,
    files=FILE,
)
