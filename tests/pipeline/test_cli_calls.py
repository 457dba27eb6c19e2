"""How `emgas` is called: what a wrong call is told, and that every command explains itself and is in the README."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import typer

from streams.cli.main import Commands, app
from streams.cli.memory.query_options import FILTERS, OPTIONS, _present
from streams.cli.shared import output
from tests.support.cli import ROOT, commands, emgas, emgas_here, environment

CONVERSATION = ROOT / "streams" / "cli" / "memory" / "demo_data" / "conversation.jsonl"


@pytest.mark.parametrize(
    ("arguments", "settings", "message"),
    [
        (["publish", "no-such-file.jsonl"], {}, "there is no file no-such-file.jsonl"),
        (["publish"], {}, "Missing argument"),
        (
            ["publish", str(CONVERSATION), "--format", "tsv"],
            {},
            "choose one of chatgpt, claude, claude-code, codex, csv",
        ),
        (["publish", str(ROOT / "LICENSE")], {}, "is in none of the formats"),
        (["publish", str(CONVERSATION), "--graph", "no//graph"], {}, "graph: must"),
        (["query", "ada"], {}, "Missing argument"),
        (["query", "no//graph", "who?"], {}, "graph: must be 1 to 128 printable"),
        (["query", "ada", "who?", "--top", "101"], {}, "--top"),
        (["query", "ada", "who?", "--depth", "3"], {}, "No such option"),
        (["query", "ada", "who?", "--data", "there"], {}, "--data belongs before the command"),
        (["forget", "ada"], {}, "nothing named to forget"),
        (["vanish", "ada"], {}, "No such command"),
        (["qurey", "ada", "who?"], {}, "Did you mean `emgas query`?"),
        (["theme", "ada"], {}, "Did you mean `emgas look themes`?"),
        (["search", "ada"], {}, "Did you mean `emgas query`?"),
        (["look", "themse", "ada"], {}, "Did you mean `emgas look themes`?"),
        (["undo", "ada"], {}, "Did you mean `emgas replay undo`?"),
        (["change", "undo", "ada"], {}, "Did you mean `emgas replay undo`?"),
        (["query", "ada", "who?", "--option", "mod=path"], {}, "--option mod=path: choose one of mode, "),
        (["query", "ada", "who?", "--option", "mode"], {}, "write KEY=VALUE"),
        (["query", "ada", "who?", "--filter", "pinned=perhaps"], {}, "write true or false"),
        (["query", "ada", "who?", "--option", "load=much"], {}, "write a number"),
        (["query", "ada", "who?", "--option", "guide.deep=1"], {}, "--option guide.deep=1: choose one of depth"),
        (["query", "ada", "who?", "--mode", "wild"], {}, "error: --mode wild: choose one of"),
        (["query", "ada", "who?", "--mode"], {}, "error: --mode: choose one of"),
        (["query", "ada", "who?", "--option", "mode=wild"], {}, "error: --option mode=wild: choose one of"),
        (["query", "ada", "who?", "--timeout", "0"], {}, "error: --timeout 0: must be more than 0"),
        (["query", "ada", "who?", "--load", "7"], {}, "error: --load 7: must be at most 1"),
        (["query", "ada", "who?", "--load=7"], {}, "error: --load=7: must be at most 1"),
        (["query", "ada", "who?", "--option", "load=7"], {}, "error: --option load=7: must be at most 1"),
        (["query", "ada", "who?", "--guide", "depth=7"], {}, "error: --guide depth=7: must be at most 1"),
        (["query", "ada", "who?", "--spreading", "delta=x"], {}, "error: --spreading delta=x: must be a number"),
        (["query", "ada", "who?", "--min-importance", "4"], {}, "error: --min-importance 4: must be at most 1"),
        (["query", "ada", "who?", "--budget", "9999999"], {}, "error: --budget 9999999: must be at most"),
        (["query", "ada", "who?", "--timezone", "Mars"], {}, "error: --timezone Mars: there is no time zone 'Mars'"),
        (["look", "extract", " "], {}, "the text is empty: write a text, or name a file"),
        (["query", "ada", " "], {}, "the question is empty: write what you want to know"),
        (["configure", "ada", "--prune-below", "99"], {}, "error: --prune-below 99: must be at most 1"),
        (["configure", "ada", "--prune-below", "x"], {}, "Invalid value for '--prune-below': must be a number"),
        (["configure", "ada", "--mode", "wild"], {}, "error: --mode wild: must be 'default'"),
        (["add", "ada", ""], {}, "text"),
        (["add", "ada", "-5 degrees today"], {}, "write -- before the text"),
        (["worker"], {}, "a worker needs a broker: set EMGAS_BROKER"),
        (["doctor"], {"broker": "http://localhost"}, "EMGAS_BROKER: "),
        (["doctor"], {"partitions": "none"}, "EMGAS_PARTITIONS: "),
        (["doctor"], {"prefix": "Not A Prefix"}, "EMGAS_PREFIX: "),
        (["doctor"], {"memory": "lots"}, "EMGAS_MEMORY: write a number and a unit, as in 512MiB"),
        (["worker"], {"broker": "kafka://127.0.0.1:1", "log_level": "LOUD"}, "EMGAS_LOG_LEVEL: "),
    ],
)
def test_a_wrong_call_exits_with_2_and_says_why(
    tmp_path: Path, arguments: list[str], settings: dict[str, str], message: str
) -> None:
    assert message in emgas_here(tmp_path, *arguments, code=2, **settings).err


COMMANDS = dict(commands())


def shown() -> Iterator[str]:
    """Yield each line of a shell block in README.md and docs/ that calls `emgas`, from there on."""
    for document in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        for block in re.findall(
            r"^```(?:sh|bash)\n(.*?)^```", document.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
        ):
            for line in block.split("\n"):
                yield from (call.strip() for call in re.findall(r"(?:^|&& )(emgas [^#&|]+)", line))


OF_EVERY_COMMAND = re.compile(r"^emgas(?: --(?:broker|data|config) \S+)*")  # options before its name


def command_of(call: str) -> tuple[tuple[str, ...], Any] | None:
    """Find the command that a line of shell calls."""
    words = tuple(call.split()[1:])
    return next(((words[:n], COMMANDS[words[:n]]) for n in (1, 2, 3) if words[:n] in COMMANDS), None)


def test_every_call_that_the_documentation_shows_is_a_command_with_these_options() -> None:
    calls = set(shown())
    assert len(calls) > 30
    for call in (OF_EVERY_COMMAND.sub("emgas", each) for each in calls):
        command = command_of(call)
        assert command is not None, call
        options = {name for parameter in command[1].params for name in (*parameter.opts, *parameter.secondary_opts)}
        assert set(re.findall(r"(?<!\S)--[a-z-]+", call)) <= options | {"--help"}, call


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_says_what_it_does_and_what_each_option_is_for(tmp_path: Path, words: tuple[str, ...]) -> None:
    lines = [line.strip("│ ") for line in emgas_here(tmp_path, *words, "--help").out.splitlines()]
    usage = next(number for number, line in enumerate(lines) if line.startswith("Usage: "))
    assert re.match(r"[A-Z][^.]+[a-z]\b", " ".join(lines[usage + 1 : usage + 4]).strip()), "no sentence below the usage"
    explained = [re.match(r"--[a-z-]+(?: +\S.*?)? {2,}\w", line) for line in lines if line.startswith("--")]
    assert explained
    assert all(explained), f"an option without a word: {lines}"
    assert not any("<bool>" in line for line in lines), "a flag takes no value"


def test_the_first_list_is_short_and_every_command_has_a_panel() -> None:
    listed = Commands.list_commands(typer.main.get_command(app), None)  # type: ignore[arg-type]
    assert len(listed) <= 20
    assert set(listed) == set(Commands.panels)


@pytest.mark.parametrize("former", sorted({*Commands.aliases, "publish"}))
def test_a_command_keeps_its_former_name_which_no_list_shows(tmp_path: Path, former: str) -> None:
    present = Commands.aliases.get(former, former).split()
    assert (
        emgas_here(tmp_path, former, "--help").out.split()[2:]
        == emgas_here(tmp_path, *present, "--help").out.split()[len(present) + 1 :]
    )
    assert not re.search(rf"^│ {former} ", emgas_here(tmp_path, "--help").out, re.MULTILINE)


@pytest.mark.parametrize(
    ("former", "present"),
    [
        (["--mode", "path"], ["--option", "mode=path"]),
        (["--mode=path"], ["--option", "mode=path"]),
        (["--guide", "depth=1"], ["--option", "guide.depth=1"]),
        (["--recent"], ["--option", "recent=true"]),
        (["--no-archive", "--pinned"], ["--filter", "archive=false", "--filter", "pinned=true"]),
        (["--meta", "channel=phone"], ["--filter", "meta.channel=phone"]),
    ],
)
def test_a_former_option_of_query_is_a_key_of_one(tmp_path: Path, former: list[str], present: list[str]) -> None:
    emgas_here(tmp_path, "add", "ada", "The kettle broke.", "--speaker", "Ada")
    answers = [
        emgas_here(tmp_path, "query", "ada", "what broke?", *options, "--json").json for options in (former, present)
    ]
    assert answers[0]["context"] == answers[1]["context"]
    assert list(_present(former)) == present


def test_query_has_twelve_options_and_lists_the_others(tmp_path: Path) -> None:
    options = {name for each in COMMANDS["query",].params for name in each.opts if name.startswith("--")}
    assert len(options - {"--option", "--options"}) == 12
    listed = emgas_here(tmp_path, "query", "--options").out
    assert all(key in listed for key in (*OPTIONS, *FILTERS))


HEAVY = ("faust", "networkx", "numpy", "yake", "aiohttp", "aiokafka", "rocksdict", "processors")
IMPORTED = """
import sys
from streams.cli.main import main
sys.argv = ["emgas", *sys.argv[1:]]
try:
    main()
finally:
    print(",".join(sorted({name.partition(".")[0] for name in sys.modules})), file=sys.stderr)
"""


@pytest.mark.parametrize(
    "arguments",
    [
        "--help",
        "--version",
        "replay --help",
        "serve --help",
        "publish --help",
        "query ada who",
        "themes ada",
        "topics describe",
    ],
)
def test_a_command_that_needs_no_worker_imports_none_of_its_libraries(tmp_path: Path, arguments: str) -> None:
    command = [sys.executable, "-c", IMPORTED, *arguments.split()]
    ended = subprocess.run(command, env=environment(tmp_path), cwd=ROOT, capture_output=True, text=True)
    imported = ended.stderr.splitlines()[-1].split(",")
    assert "typer" in imported, ended.stderr
    assert [name for name in HEAVY if name in imported] == []


def test_a_list_of_commands_tells_what_each_one_does(tmp_path: Path) -> None:
    for words, command in COMMANDS.items():
        listed = emgas_here(tmp_path, *words[:-1], "--help").out
        help_text = " ".join(line.strip("│ ") for line in listed.splitlines())
        assert re.sub(r"\s+", " ", command.help.split("\n\n")[0])[:50] in re.sub(r"\s+", " ", help_text), words


def test_the_version_is_that_of_the_package(tmp_path: Path) -> None:
    assert emgas_here(tmp_path, "--version").out == f"emgas {version('emgas')}\n"


def test_a_shell_completes_the_names_of_commands(tmp_path: Path) -> None:
    question = {"_EMGAS_COMPLETE": "complete_bash", "COMP_WORDS": "emgas que", "COMP_CWORD": "1"}
    env = environment(tmp_path) | question
    ended = subprocess.run([Path(sys.executable).with_name("emgas")], env=env, capture_output=True, text=True)
    assert ended.stdout.split() == ["query"]


def test_a_misspelt_variable_is_told_with_what_was_meant(tmp_path: Path) -> None:
    result = emgas_here(tmp_path, "query", "ada", "who?", code=3, brokr="kafka://nowhere:9092")
    assert "EMGAS_BROKR is not a setting: did you mean EMGAS_BROKER?" in result.err


def test_a_variable_that_only_shares_the_prefix_with_a_setting_is_not_taken_for_it(tmp_path: Path) -> None:
    result = emgas_here(tmp_path, "query", "ada", "who?", code=3, decay="5")
    assert "EMGAS_DECAY is not a setting" in result.err
    assert "did you mean" not in result.err


def test_settings_come_from_options_then_variables_then_a_file(tmp_path: Path) -> None:
    file = tmp_path / "emgas.toml"
    file.write_text(f'data = "{tmp_path / "of-file"}"\nprefix = "mine"\n')
    assert f"{tmp_path / 'of-file'}/embedded/mine" in emgas(None, "query", "ada", "who?", code=3, config=str(file)).err
    assert (
        f"{tmp_path / 'of-variable'}/embedded/mine"
        in emgas(tmp_path / "of-variable", "--config", str(file), "query", "ada", "who?", code=3).err
    )
    option = str(tmp_path / "of-option")
    assert f"{option}/embedded/emgas" in emgas(tmp_path, "--data", option, "query", "ada", "who?", code=3).err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("brokr = 'x'", "brokr is not a setting: did you mean broker?"),
        ("x", "is not valid TOML"),
        ("data = true", "text"),
    ],
)
def test_a_file_of_settings_that_cannot_be_is_told(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "emgas.toml").write_text(text)
    assert message in emgas(tmp_path, "--config", str(tmp_path / "emgas.toml"), "query", "ada", "x", code=2).err


@pytest.mark.parametrize(
    "arguments",
    [
        ["forget", "ada", "--concept", "kettle"],
        ["events", "skip", "0:1", "--reason", "garbage"],
        ["snapshot", "restore", "--from", "somewhere"],
    ],
)
def test_what_takes_something_away_wants_yes_where_nobody_can_be_asked(tmp_path: Path, arguments: list[str]) -> None:
    emgas_here(tmp_path, "add", "ada", "The kettle broke.")
    result = emgas_here(tmp_path, *arguments, "--ask", code=2)
    assert "Confirm with --yes, because there is no terminal" in result.err
    assert "The kettle broke." in emgas_here(tmp_path, "turns", "ada").out


@pytest.mark.parametrize(("answer", "done"), [("y", True), ("n", False)])
def test_on_a_terminal_the_question_decides(answer: str, done: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr(typer, "confirm", lambda _, *, err: answer == "y" and err)
    if done:
        output.make_sure("This removes the kettle", yes=False)
        return
    with pytest.raises(typer.Exit):
        output.make_sure("This removes the kettle", yes=False)
