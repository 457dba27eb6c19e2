"""`emgas admin hook`: install hooks in agent programs, run them, and show the context that they gave to a model.

Hosts run `emgas hook EVENT`: emgas_service/start.py passes that to emgas/hooks/firing.py, without this module.
"""

from __future__ import annotations

import json as json_library
import os
import shlex
import shutil
from pathlib import Path
from time import monotonic
from typing import Annotated, Any
from urllib.parse import quote, urlencode

import typer

from emgas.hooks import bundles, running
from emgas.hooks.hosts import HOSTS, Host
from emgas.times import format_utc
from streams.cli.shared import output

SECONDS = 10.0
app = typer.Typer(
    no_args_is_help=True,
    help="Connect Claude Code, Codex, Cursor, OpenClaw or Hermes to this memory, and list what their model got.",
)


@app.command()
def install(
    host: Annotated[str, typer.Argument(help=f"One of {', '.join(HOSTS)}.")],
    *,
    show: Annotated[bool, typer.Option("--print", help="Print what would be written, and write nothing.")] = False,
) -> None:
    """Add the hooks to a host's configuration; safe to repeat."""
    if host not in HOSTS:
        output.fail(f"there is no host {host!r}: use one of {', '.join(HOSTS)}", output.USAGE)
    chosen = HOSTS[host]
    for path, text in _planned(chosen).items():
        if show:
            typer.echo(f"# {path}\n{text}")
            continue
        try:
            _write(path, text)
        except OSError as error:
            output.fail_path("write", path, error)
        typer.echo(f"wrote {path}")
    if not show:
        typer.echo(NEXT[host])


NEXT = {
    "claude-code": "Start a new session.  To search as well: claude mcp add --scope user emgas -- emgas mcp",
    "codex": "Start a new session and trust the hooks with /hooks.  To search, too: codex mcp add emgas -- emgas mcp",
    "cursor": "Restart Cursor.",
    "openclaw": 'Set plugins.slots.memory to "emgas" and plugins.entries.emgas.hooks.allowConversationAccess to true, '
    "then run: openclaw gateway restart",
    "hermes": "Set memory.provider to emgas: hermes config set memory.provider emgas",
}


def _planned(host: Host) -> dict[Path, str]:
    """Return what to write for a host, by path."""
    place = Path.home() / host.place
    if host.name == "hermes" and (folder := os.environ.get("HERMES_HOME")):
        place = Path(folder) / "plugins" / "emgas"
    if not host.place.endswith(".json"):
        return {place / path: text for path, text in bundles.bundle_of(host).items()}
    existing = _existing(place)
    program = shlex.quote(shutil.which("emgas") or "emgas")
    planned = {place: _json(bundles.merged(existing, host, program))}
    if host.name == "cursor":
        servers = place.with_name("mcp.json")
        listed = _existing(servers)
        ours = {**listed.get("mcpServers", {}), **bundles.SERVER["mcpServers"]}
        planned[servers] = _json({**listed, "mcpServers": ours})
    return planned


def _existing(path: Path) -> dict[str, Any]:
    try:
        value = json_library.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        value = None
    if not isinstance(value, dict):
        output.fail(f"{path} is not a JSON object: correct it, then run this again", output.USAGE)
    return value


def _json(value: dict[str, Any]) -> str:
    return json_library.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.emgas-new")
    new.write_text(text, "utf-8")
    new.replace(path.resolve())


@app.command()
def log(
    *,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many to list.")] = 10,
    session: Annotated[str | None, typer.Option(help="Only of this session.")] = None,
    texts: Annotated[bool, typer.Option("--texts/--no-texts", help="Also print the turns that were quoted.")] = True,
    json: output.Json = False,
) -> None:
    """List what hooks added to prompts, the latest first: when, for which session, how many tokens, which turns."""
    server = running.find_server()
    if server is None:
        output.fail("no server runs here, and it keeps the list: start `emgas serve`, or set EMGAS_HOOK_URL")
    chosen = {"limit": limit, **({} if session is None else {"session": session})}
    shown = _get(server, f"/v1/hooks?{urlencode(chosen)}")
    if json:
        output.print_json(shown)
        return
    for each in shown["injections"]:
        output.out.print(_headline(each), markup=False)
        if texts:
            for line in _quoted(server, each["turns"]):
                output.out.print(f"    {line}", markup=False)
    if not shown["injections"]:
        output.out.print("nothing was added to a prompt yet")


def _headline(injection: dict[str, Any]) -> str:
    graphs = ", ".join(injection["graphs"])
    turns = output.counted(len(injection["turns"]), "turn")
    where = f"{injection['host']} {injection['event']}, session {injection['session']}"
    return f"{format_utc(injection['at'])}  {where}: {turns} of {graphs}, {injection['tokens']} tokens"


def _quoted(server: running.RunningServer, turns: list[list[str]]) -> list[str]:
    """Return the turns as they are in the memory now; those that were forgotten are missing."""
    lines = []
    for graph in dict.fromkeys(graph for graph, _ in turns):
        ids = [("id", turn) for other, turn in turns if other == graph]
        page = _get(server, f"/v1/graphs/{quote(graph, safe='')}/turns?{urlencode(ids)}")
        lines += [f"{turn['speaker']}: {' '.join(turn['text'].split())}" for turn in page["turns"]]
    return lines


def _get(server: running.RunningServer, path: str) -> Any:
    try:
        return json_library.loads(running.request(server, "GET", path, until=monotonic() + SECONDS))
    except (running.NoServerError, running.HookRefusedError) as error:
        output.fail(str(error))
