"""What holds for every export: archives, bounds, detection, and bytes that make no sense."""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import emgas
from emgas.errors import InvalidMessageError
from emgas.importers.files import archives, documents
from emgas.importers.files.lines import graph_named
from emgas.importers.registry import FORMATS, BadLine, Options, detect, read, read_folder
from emgas.messages.turns import Turn
from tests.support.chats import (
    ANDROID,
    CHAT,
    CHATGPT,
    DAY,
    IPHONE,
    SHAREGPT,
    SLACK,
    conversation,
    items,
    message,
    reasons,
    telegram,
    zipped,
)

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
        with pytest.raises(InvalidMessageError, match="is a ZIP that is damaged or incomplete"):
            items(whole[:cut])
    assert all("is packed unusually" in reason for reason in reasons(items(zipped(SLACK, zipfile.ZIP_BZIP2))))
    with pytest.raises(InvalidMessageError, match="holds no file of an export of chatgpt, claude"):
        items(zipped({"holiday.jpg": b"x"}), "photos.zip")
    with pytest.raises(InvalidMessageError, match="none of the files that an export of telegram has"):
        items(whole, format="telegram")
    with pytest.raises(InvalidMessageError, match="holds no file: name a file"):
        read_folder(tmp_path, format="jsonl")


def test_a_zip_whose_bytes_were_changed_is_reported() -> None:
    whole = zipped(SLACK)
    for place in range(0, len(whole), 11):
        flipped = whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :]
        try:
            results = items(flipped, format="slack")
        except InvalidMessageError:
            continue
        assert all(isinstance(item, Turn | BadLine) for item in results)


def test_a_document_over_the_bound_is_refused_before_it_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "DOCUMENT_BYTES", 10)
    for format in ("chatgpt", "telegram", "sharegpt", "locomo"):
        with pytest.raises(InvalidMessageError, match="file: is over 10 bytes"):
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
    assert detect(head).name == format


def test_a_backup_is_known_and_its_place_named() -> None:
    head = b'{"specversion":"1.0","id":"emgas/backup/1","source":"emgas.events","type":"io.emgas.backup.v1","data":{'
    with pytest.raises(InvalidMessageError, match="`emgas import` reads it"):
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
        Turn(id="1", graph=graph, speaker="x", text="y")


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


@settings(max_examples=200)
@given(raw=FRAGMENTS, cut=st.integers(0, 3000), format=st.sampled_from([None, *FORMATS]))
def test_whatever_the_bytes_are_nothing_but_invalid_message_is_raised(raw: bytes, cut: int, format: str | None) -> None:
    try:
        for item in read(
            io.BytesIO(raw[cut // 2 :]), "x.jsonl", "ada", format=format, options=Options(date_order="dmy")
        ):
            assert isinstance(item, Turn | BadLine)
    except InvalidMessageError:
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
    results = items(raw, graph="ada", format=format)
    assert [item for item in results if isinstance(item, Turn)] == []


def test_a_line_as_long_as_it_likes_takes_no_more_memory_than_a_bound() -> None:
    raw = IPHONE.encode() + b"x" * 100_000_000
    tracemalloc.start()
    results = items(raw, graph="ada")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [isinstance(item, BadLine) for item in results] == [False, False, False, True]
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


@settings(max_examples=300)
@given(value=JSON, format=st.sampled_from(["chatgpt", "sharegpt", "telegram", "slack"]))
def test_whatever_the_json_is_nothing_but_invalid_message_is_raised(value: Any, format: str) -> None:
    raw = orjson.dumps([value, value] if format != "telegram" else value)
    raw = zipped({"users.json": raw, "general/2023-05-08.json": raw}) if format == "slack" else raw
    for item in items(raw, graph="ada", format=format):
        assert isinstance(item, Turn | BadLine)


# ── another one ──────────────────────────────────────────────────────────────────────────────────────────────────────

ADDED_FORMAT = '''"""A format that only this test has: a JSON object with a list of texts."""

from collections.abc import Iterator
from typing import IO

import orjson

from emgas.importers.chat_format import Fit, Format, Head, FormatSummary
from emgas.importers.files.lines import Item, Options
from emgas.validation import build
from emgas.messages.turns import Turn


def read(stream: IO[bytes], graph: str | None, options: Options) -> Iterator[Item]:
    for number, said in enumerate(orjson.loads(stream.read())["format-of-this-test"]):
        yield build(Turn, {"id": str(number), "graph": graph, "speaker": "Ada", "text": said})


FORMAT = Format(
    name="format-of-this-test", order=5, summary=FormatSummary("a file", "must be given", "none", "none"),
    matches=lambda head: Fit.SURE if b"format-of-this-test" in head.start else Fit.NO, read=read,
)
'''
IMPORTING = """
import io
from emgas.importers.registry import NAMES, read
(turn,) = read(io.BytesIO(b'{"format-of-this-test": ["Hello"]}'), "export.json", "ada")
print(turn.text, NAMES)
"""


def test_a_format_is_added_by_adding_its_file(tmp_path: Path) -> None:
    shutil.copytree(Path(emgas.__file__).parent, tmp_path / "emgas")
    (tmp_path / "emgas" / "importers" / "format_of_this_test.py").write_text(ADDED_FORMAT)
    done = subprocess.run([sys.executable, "-c", IMPORTING], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == f"Hello {', '.join(sorted([*FORMATS, 'format-of-this-test']))}\n", done


def test_no_two_formats_are_asked_at_once_so_the_order_of_files_on_a_disk_decides_nothing() -> None:
    orders = [format.order for format in FORMATS.values()]
    assert orders == sorted(set(orders))


def test_an_archive_that_lists_too_many_files_is_not_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for number in range(3000):
            archive.writestr(f"general/{number}.json", b"[]")
    packed.seek(0)
    monkeypatch.setattr(archives, "DIRECTORY_BYTES", 100_000)
    with pytest.raises(InvalidMessageError, match="lists too many files: unpack the archive"):
        list(read(packed, "export.zip", "ada"))


@pytest.mark.parametrize("packs", [False, True])
def test_a_document_of_too_many_values_is_not_read(packs: bool) -> None:
    body = b"[" + b",".join([b"{}"] * 600) + b"]"
    packed = io.BytesIO(body)
    if packs:
        with zipfile.ZipFile(packed := io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("conversations.json", body)
        packed.seek(0)
    with pytest.raises(InvalidMessageError, match="holds more than 1000 values: split it"):
        list(read(packed, "a", "ada", format="chatgpt", options=Options(values=1000)))
    packed.seek(0)
    assert len(list(read(packed, "a", "ada", format="chatgpt", options=Options(values=2000)))) == 600
