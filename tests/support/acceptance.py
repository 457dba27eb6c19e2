"""Acceptance cases: what people say to a memory, what they ask at a public door, and what must come back.

    python -m tests.support.acceptance FILE… [--only PREFIX] [--json]

A file has one JSON object per line.  A line with `turns` and no `ask` is a memory, which cases name:

    {"memory": "kitchen", "turns": ["2025-06-01T09:00 s1 Ada: The kettle is new", {"id": "t2", …}], "settings": {…},
     "do": [{"door": "pin", "turns": ["t1"]}]}
    {"id": "kettle-1", "rows": ["E18"], "memory": "kitchen", "ask": {"door": "query", "text": "…"},
     "expect": {"first": "kettle"}}

A case may also bring its own `turns`, `settings`, `do` and `noise`.  It is asked once in the default preset, and once
in the preset of the source of each of its rows; a memory that chooses a preset itself is asked in that one only.
All of `expect` must hold.  Case does not matter, "a|b" is a or b, "a&b" is both in one item:

    first             in the first item                    contains      each in one of the first `within` items (3)
    not_contains      none in the first `within` items     once          none in more than one item
    context_contains  each in the context; of a door without a context, in the reply
    context_lacks     none there                           nothing       no item, or `matched` is false
    path              a dotted way into the reply: its end `equals` this, is `at_least` or `at_most` so large or so many
    refused           the HTTP status of a refusal

An item is a passage, a turn, a habit, a theme, a relation, or a sentence of a recap.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

Json = dict[str, Any]

DOORS: Final = {
    "query": "POST /query", "explore": "GET /concept", "habits": "GET /habits", "trend": "GET /trend",
    "recap": "GET /sessions", "recent": "GET /recent", "themes": "GET ", "turns": "GET /turns",
}  # fmt: skip
ITEMS: Final = ("passages", "inferred", "relations", "habits", "periods", "sessions", "turns", "themes", "results")
PRESETS: Final = {"E": "emgas", "S": "soulmem", "M": "maibot", "P": "simplemem", "H": "hello-agents"}
OF_MOFOX: Final = ("M23", "M24", "M25", "M26", "M27")
PATIENCE: Final = 120  # seconds for one reply
_LINE: Final = re.compile(r"(\S+) (\S+) ([^:]+): (.*)", re.DOTALL)
_ADDRESS: Final = re.compile(r"http://127\.0\.0\.1:\d+")


class Result(NamedTuple):
    """One case in one preset: what did not hold; nothing if it passes."""

    id: str
    rows: tuple[str, ...]
    preset: str
    wrong: tuple[str, ...]
    is_fixed: bool = False  # whether its memory chooses the preset itself


def preset_of(row: str) -> str:
    """Return the preset of the source that a feature is of."""
    return "mofox" if row in OF_MOFOX else "memorybank" if row == "S26" else PRESETS[row[0]]


class Server:
    """`emgas serve` with a data directory of its own, for the length of a with block."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="emgas-acceptance-")
        own = {name: value for name, value in os.environ.items() if not name.startswith("EMGAS_")}
        command = [str(Path(sys.executable).with_name("emgas")), "serve", "--port", "0"]
        self._process = subprocess.Popen(
            command, env={**own, "EMGAS_DATA": self._folder.name}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True,
        )  # fmt: skip
        self._url = ""

    def __enter__(self) -> Self:
        assert self._process.stdout is not None
        lines = []
        for line in self._process.stdout:
            lines.append(line)
            if match := _ADDRESS.search(line):
                self._url = match.group()
                return self
        self.__exit__()
        raise SystemExit("the server did not start:\n" + "".join(lines))

    def __exit__(self, *_: object) -> None:
        self._process.send_signal(signal.SIGTERM)
        self._process.communicate()
        self._folder.cleanup()

    def send(self, method: str, path: str, body: object = None, mime: str = "application/json") -> str:
        """Send a request and return the body of its reply.  Raises urllib.error.HTTPError when it is refused."""
        data = body.encode() if isinstance(body, str) else None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._url + path, data, {"Content-Type": mime}, method=method)  # noqa: S310 - a server of ours, over HTTP
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:  # noqa: S310 - as above
            text: str = answer.read().decode()
        return text

    def call(self, graph: str, ask: Mapping[str, Any]) -> Json:
        """Call a door of a graph, or with a path from /v1 on a door of the server."""
        method, path = DOORS.get(ask["door"], ask["door"] if " " in ask["door"] else f"POST /{ask['door']}").split(" ")
        values = {"name" if key == "concept" else key: value for key, value in ask.items() if key != "door"}
        path = path if path.startswith("/v") else f"/v1/graphs/{urllib.parse.quote(graph)}{path}"
        if method == "GET":
            return dict(json.loads(self.send(method, f"{path}?{urllib.parse.urlencode(values, doseq=True)}")))
        return dict(json.loads(self.send(method, path, values) or "{}"))


def read(files: Iterable[Path]) -> tuple[dict[str, Json], list[Json]]:
    """Read memories by name, and cases; a case that brings its own turns makes a memory of its own name."""
    memories, cases, noise = dict[str, Json](), list[Json](), dict[str, list[Json]]()
    for file in files:
        beside = file.with_name("acceptance-noise.json")
        noise |= json.loads(beside.read_text(encoding="utf-8")) if beside.exists() else {}
        for line in file.read_text(encoding="utf-8").splitlines():
            each = json.loads(line) if line.strip() else {}
            if "turns" in each:
                each["turns"] = _spoken(
                    [_turn(number, one) for number, one in enumerate(each["turns"], 1)], each, noise
                )
                memories[str(each.setdefault("memory", each.get("id")))] = each
            if "ask" in each:
                cases.append(each)
    return memories, cases


def _turn(number: int, written: str | Json) -> Json:
    if not isinstance(written, str):
        return {"id": f"t{number}", **written}
    match = _LINE.fullmatch(written)
    if match is None:
        raise SystemExit(f"not a turn: {written!r}; write `TIME SESSION SPEAKER: TEXT`")
    at, session, speaker, text = match.groups()
    return {"id": f"t{number}", "session": session, "speaker": speaker, "text": text, "at": at}


def _spoken(turns: list[Json], memory: Json, noise: Mapping[str, list[Json]]) -> list[Json]:
    """Return the turns of a memory, with talk about other things around them, in the order of their times."""
    times = sorted(turn["at"] for turn in turns)
    for number, talk in enumerate(noise[memory["noise"]] if "noise" in memory else []):
        day = datetime.fromisoformat(times[0 if talk["day"] < 0 else -1][:10]) + timedelta(talk["day"])
        hour, minute = map(int, talk["clock"].split(":"))
        start = day.replace(hour=hour, minute=minute)
        for place, (speaker, text) in enumerate(talk["turns"]):
            own = {"id": f"n{number}.{place}", "session": f"n{number}", "text": text}
            who = turns[0]["speaker"] if speaker == "*" else speaker
            turns.append({**own, "speaker": who, "at": (start + timedelta(minutes=place)).isoformat()})
    role = {"assistant": {"role": "assistant"}}
    return sorted(({**turn, **role.get(turn["speaker"], {})} for turn in turns), key=lambda turn: str(turn["at"]))


def tell(server: Server, graph: str, memory: Json, preset: str) -> int:
    """Record a case's turns in a graph, apply its actions, and return the position of the last record."""
    settings = {**({} if preset == "default" else {"preset": preset}), **memory.get("settings", {})}
    where = f"/v1/graphs/{urllib.parse.quote(graph)}"
    if settings:
        server.send("PUT", f"{where}/settings", settings)
    *most, last = memory["turns"]
    if most:
        lines = "\n".join(json.dumps({**turn, "graph": graph}) for turn in most)
        done = server.send("POST", f"{where}/import?format=jsonl&name=case.jsonl", lines, "application/octet-stream")
        if f'"accepted": {len(most)},' not in done:
            raise ValueError(f"not every turn was accepted: {done[-200:]}")
    outcome = json.loads(server.send("POST", f"{where}/turns", last))
    for step in memory.get("do", []):
        outcome = server.call(
            graph, {**step, **({"after": outcome["position"]["source"]} if step["door"] == "query" else {})}
        )
    last = int(outcome["position"]["source"])
    server.call(
        graph, {"door": "query", "text": "-", "after": last}
    )  # reads wait for what is written: all of it is there now
    return last


def answered(server: Server, graph: str, ask: Json, position: int) -> Json:
    """Ask a door, and return its reply; a refusal as {"status", "error"}."""
    try:
        return server.call(graph, {**ask, **({"after": position} if ask["door"] == "query" else {})})
    except urllib.error.HTTPError as error:
        return {"status": error.code, "error": error.read().decode()[:300]}


def shown(reply: Json) -> list[str]:
    """List the texts of a reply's items in its order; an item without a text as JSON."""
    items: list[Any] = next((reply[name] for name in ITEMS if reply.get(name) and isinstance(reply[name], list)), [])
    if reply.get("kind") == "recapped":
        items = [sentence for session in items for sentence in session["summary"]]
    return [each["text"] if "text" in each else json.dumps(each, ensure_ascii=False) for each in items]


def complaints(expect: Json, reply: Json) -> list[str]:
    """List what of an expectation does not hold, in words."""
    return list(_complaints(expect, reply, shown(reply)))


def _complaints(expect: Json, reply: Json, items: list[str]) -> Iterator[str]:
    within = expect.get("within", 3)
    context = reply.get("context", json.dumps(reply, ensure_ascii=False))
    if reply.get("status", 0) != expect.get("refused", 0):
        yield f"refused: {reply.get('status')} {reply.get('error', '')}"
    if "first" in expect and not _holds((items or [""])[0], expect["first"]):
        yield f"not first: {expect['first']}"
    for each in expect.get("contains", []):
        if not any(_holds(item, each) for item in items[:within]):
            yield f"not in the first {within}: {each}"
    for each in expect.get("not_contains", []):
        if any(_holds(item, each) for item in items[:within]):
            yield f"in the first {within}: {each}"
    yield from (
        f"not in the context: {each}" for each in expect.get("context_contains", []) if not _holds(context, each)
    )
    yield from (f"in the context: {each}" for each in expect.get("context_lacks", []) if _holds(context, each))
    yield from (f"more than once: {each}" for each in expect.get("once", []) if _count(items, each) > 1)
    if "nothing" in expect and items and reply.get("matched") is not False and reply.get("answerable") is not False:
        yield "something, where nothing has to do with it"
    yield from _at_its_end(expect, _end(reply, expect.get("path", "")))


def _at_its_end(expect: Json, end: Any) -> Iterator[str]:
    size = len(end) if isinstance(end, (list, dict, str)) else end or 0
    if "equals" in expect and str(end).casefold() != str(expect["equals"]).casefold():
        yield f"{expect['path']} is {end!r}, not {expect['equals']!r}"
    if size < expect.get("at_least", size):
        yield f"{expect['path']} is {end!r}, less than {expect['at_least']}"
    if size > expect.get("at_most", size):
        yield f"{expect['path']} is {end!r}, more than {expect['at_most']}"


def _holds(text: str, words: str) -> bool:
    """Check that a text holds one of the alternatives a|b, each with all its parts a&b."""
    return any(all(part.casefold() in text.casefold() for part in each.split("&")) for each in words.split("|"))


def _count(items: Iterable[str], words: str) -> int:
    return "\n".join(items).casefold().count(words.casefold())


def _end(reply: Any, path: str) -> Any:
    """Return what is at the end of a dotted way, or None."""
    for step in path.split(".") if path else ():
        if isinstance(reply, list):
            reply = reply[int(step)] if step.isdigit() and int(step) < len(reply) else None
        else:
            reply = reply.get(step) if isinstance(reply, dict) else None
    return reply


def run(files: Iterable[Path], only: str = "") -> Iterator[tuple[Result, Json, Json]]:
    """Run cases in all their presets; yield each result with its case and the reply."""
    memories, cases = read(files)
    positions: dict[str, int] = {}
    with Server() as server:
        for case in cases:
            if case["id"].startswith(only):
                memory = memories[str(case.get("memory", case["id"]))]
                for preset in _presets(case, memory):
                    yield _result(server, positions, case, memory, preset)


def _presets(case: Json, memory: Json) -> list[str]:
    own = memory.get("settings", {}).get("preset")
    return [own] if own else ["default", *dict.fromkeys(preset_of(row) for row in case["rows"])]


def _result(
    server: Server, positions: dict[str, int], case: Json, memory: Json, preset: str
) -> tuple[Result, Json, Json]:
    graph, reply = f"{memory['memory']} {preset}", dict[str, Any]()
    try:
        if graph not in positions:
            positions[graph] = tell(server, graph, memory, preset)
        reply = answered(server, graph, case["ask"], positions[graph])
        wrong = complaints(case["expect"], reply)
    except urllib.error.HTTPError as error:  # a memory that refuses what is said to it
        wrong = [f"{error.code}: {error.read().decode()[:300]}"]
    except (ValueError, KeyError) as error:
        wrong = [f"{type(error).__name__}: {error}"]
    return (
        Result(case["id"], tuple(case["rows"]), preset, tuple(wrong), "preset" in memory.get("settings", {})),
        case,
        reply,
    )


def _report(result: Result, case: Json, reply: Json) -> list[str]:
    """Write what did not hold of a case, as lines."""
    return [
        f"{result.id} [{result.preset}] {' '.join(result.rows)}",
        f"  asked  {json.dumps(case['ask'], ensure_ascii=False)}",
        *(f"  wrong  {each}" for each in result.wrong),
        *(f"  came   {each[:150]}" for each in shown(reply)[:3]),
    ]


def main() -> int:
    """Run the cases of files, print what does not hold, and count."""
    parser = argparse.ArgumentParser(description="Run acceptance cases against `emgas serve`.")
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--only", default="", metavar="PREFIX", help="cases whose id begins so")
    parser.add_argument("--json", action="store_true", help="print the last line only")
    options = parser.parse_args()
    passed = total = 0
    for result, case, reply in run(options.files, options.only):
        total, passed = total + 1, passed + (not result.wrong)
        if result.wrong and not options.json:
            sys.stdout.write("\n".join(_report(result, case, reply)) + "\n\n")
    sys.stdout.write(json.dumps({"asked": total, "passed": passed}) + "\n")
    return passed < total


if __name__ == "__main__":
    sys.exit(main())
