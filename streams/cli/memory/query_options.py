"""The options of `emgas query` that few people need: `--option KEY=VALUE` and `--filter KEY=VALUE`, from one table.

A former option of its own still works: `--mode path` is `--option mode=path`, and `--pinned` is `--filter pinned=true`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, get_args

import orjson

from emgas.messages.fields import EntityKind
from emgas.messages.settings.modes import Guidance, Mode, Preference, Rerank, Weighting
from streams.cli.shared import output
from streams.cli.shared.lazy_commands import PlainCommand

GUIDANCE: Final = (
    *(name for name in Guidance.model_fields if name not in ("kinds", "type_weights")),
    *get_args(Preference),
)
KINDS: Final = ("all", "working", "episodic", "semantic", "perceptual")


class Key(NamedTuple):
    """A key of --option or --filter.

    field    what it sets: a field of the query, of its filter, or a name that the command knows
    form     text, texts (repeatable), number or flag; or pair, for keys like `meta.topic`
    choices  the values, if there are only these
    """

    field: str
    form: str
    help: str
    choices: Sequence[str] = ()


OPTIONS: Final[Mapping[str, Key]] = {
    "mode": Key("mode", "text", "retriever; the graph's own by default", get_args(Mode)),
    "weighting": Key("weighting", "text", "link weights; the mode's own by default", get_args(Weighting)),
    "rerank": Key("rerank", "text", "rerank the best results", get_args(Rerank)),
    "spreading": Key("spreading", "pair", "a constant of the mode, as spreading.window=round"),
    "guide": Key("guide", "pair", f"guide the search, as guide.depth=0.5: {', '.join(GUIDANCE)}, or a relation"),
    "context-passages": Key("context_passages", "number", "maximum number of turns in the context"),
    "load": Key("load", "number", "show fewer results: 0 for up to nine, 1 for up to five"),
    "after": Key("after", "number", "wait until the turn at this offset can be queried"),
    "timezone": Key("timezone", "text", "time zone for all times, as Europe/Berlin; the graph's own by default"),
    "recent": Key("recent", "flag", "show the latest turns if nothing answers"),
    "nearest": Key("nearest", "flag", "show the nearest turns if nothing answers"),
    "min-likelihood": Key("min_likelihood", "number", "show nothing if an answer is less likely, 0 to 1"),
    "kind": Key("memory", "text", "kind of memory", KINDS),
    "like": Key("like", "text", "find images or sounds like that of this turn, with kind=perceptual"),
    "render": Key("render", "text", "masked: with gaps for faded words", ("plain", "masked")),
    "in": Key("session", "text", "session in which you ask: what `and then?` refers to"),
    "also": Key("also", "texts", "query this graph too; repeatable"),
    "timeout": Key("timeout", "number", "seconds to wait for the answer; EMGAS_TIMEOUT by default, else 10"),
}
FILTERS: Final[Mapping[str, Key]] = {
    "role": Key("roles", "texts", "role of the speaker: user, assistant, system or tool; repeatable"),
    "origin": Key("origins", "texts", "where the text comes from: user, assistant, tool or web; repeatable"),
    "not-origin": Key("without_origins", "texts", "leave out texts from here; repeatable"),
    "concept": Key("concepts", "texts", "turns that mention this concept; repeatable"),
    "entity": Key("entities", "texts", "turns that name one of this kind; repeatable", get_args(EntityKind)),
    "statement": Key("statements", "texts", "turns that state this of a person, as home or likes; repeatable"),
    "meta": Key("metadata", "pair", "turns with this metadata, as meta.channel=phone; repeatable"),
    "min-importance": Key("min_importance", "number", "turns of at least this importance, 0 to 1"),
    "pinned": Key("pinned", "flag", "pinned turns"),
    "about-since": Key("spoken_since", "text", "turns that mention a time at or after this"),
    "about-until": Key("spoken_until", "text", "turns that mention a time before this"),
    "exclude": Key("exclude", "texts", "leave out this turn id; repeatable"),
    "archive": Key("include_archive", "flag", "false: leave out archived turns"),
}
FORMER_FLAGS: Final = {"--no-archive": ("--filter", "archive=false")} | {
    f"--{key}": (option, f"{key}=true")
    for option, table in (("--option", OPTIONS), ("--filter", FILTERS))
    for key, each in table.items()
    if each.form == "flag"
}
TABLES: Final = {"option": OPTIONS, "filter": FILTERS}


class TypedOptions:
    """What the caller typed for each key, so that an error repeats it.

    typed    KEY=VALUE → the former option that it was typed as, such as `--mode path`
    fields   field of a message → what was typed for it
    """

    def __init__(self, typed: Mapping[str, str]) -> None:
        self._typed = typed
        self.fields: dict[str, str] = {}

    def of(self, table: str, pair: str) -> str:
        """Return what was typed for a KEY=VALUE of --option or --filter."""
        return self._typed.get(pair, f"--{table} {pair}")


class QueryCommand(PlainCommand):
    """The command `query`, which also takes its former options."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments, each former option as a KEY=VALUE; remember how it was typed."""
        pieces = list(_pieces(args))
        ctx.obj = TypedOptions({words[1]: typed for typed, words in pieces if len(words) > 1})
        return super().parse_args(ctx, [word for _, words in pieces for word in words])


def _present(args: Iterable[str]) -> Iterator[str]:
    """Write former options as present ones."""
    return (word for _, words in _pieces(args) for word in words)


def _pieces(args: Iterable[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield what was typed, and the words that it stands for: two for a former option, else itself."""
    rest = iter(args)
    for each in rest:
        name, equals, value = each.partition("=")
        if each == "--":
            yield from ((word, (word,)) for word in (each, *rest))
        elif each in FORMER_FLAGS:
            yield each, FORMER_FLAGS[each]
        elif (table := _table_of(name)) is not None:
            setting = value if equals else next(rest, "")
            pair = "." if TABLES[table][name[2:]].form == "pair" else "="
            yield each if equals else f"{each} {setting}".rstrip(), (f"--{table}", f"{name[2:]}{pair}{setting}")
        else:
            yield each, (each,)


def _table_of(name: str) -> str | None:
    key = name[2:] if name.startswith("--") else ""
    return next((table for table, keys in TABLES.items() if key in keys), None)


def parse(table: str, values: Sequence[str], written: TypedOptions) -> dict[str, Any]:
    """Parse each KEY=VALUE of --option or --filter into fields; exits with an error if one is wrong."""
    fields: dict[str, Any] = {}
    for each in values:
        typed = written.of(table, each)
        name, equals, value = each.partition("=")
        if not equals:
            output.fail(f"{typed}: write KEY=VALUE", output.USAGE)
        first, _, rest = name.partition(".")
        key = TABLES[table].get(first)
        if key is None or (key.form == "pair") != bool(rest):
            choices = ", ".join(f"{name}.KEY" if key.form == "pair" else name for name, key in TABLES[table].items())
            output.fail(f"{typed}: choose one of {choices}; see `emgas query --options`", output.USAGE)
        written.fields[rest or key.field] = typed
        if key.form == "pair":
            fields[key.field] = fields.get(key.field, {}) | {rest: scalar(value)}
        elif key.form == "texts":
            fields[key.field] = [*fields.get(key.field, []), _chosen(typed, key, value)]
        else:
            fields[key.field] = _single(typed, key, value)
    return fields


def _chosen(typed: str, key: Key, text: str) -> str:
    """Return a value that is one of the choices, if there are any; exits with an error if it is none."""
    if key.choices and text not in key.choices:
        output.fail(f"{typed}: choose one of {', '.join(key.choices)}", output.USAGE)
    return text


def _single(typed: str, key: Key, text: str) -> Any:
    text = _chosen(typed, key, text)
    if key.form == "text":
        return text
    value = scalar(text)
    if key.form == "flag" and not isinstance(value, bool):
        output.fail(f"{typed}: write true or false", output.USAGE)
    if key.form == "number" and (isinstance(value, bool) or not isinstance(value, int | float)):
        output.fail(f"{typed}: write a number", output.USAGE)
    return value


def scalar(text: str) -> Any:
    """Parse a value: a number, true, false, null or a "string" of JSON, else the text itself."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    return text if isinstance(value, dict | list) else value


def guidance(values: Mapping[str, Any], written: TypedOptions) -> dict[str, Any]:
    """Sort the values of `guide` into the fields of `Guidance`: kinds and relations have fields of their own."""
    from emgas.messages.relations import RELATION_TYPES  # here: --help needs none of it

    for key in values:
        if key not in (choices := (*GUIDANCE, *RELATION_TYPES)):
            output.fail(f"{written.fields[key]}: choose one of {', '.join(choices)}", output.USAGE)
    fields = {key: value for key, value in values.items() if key in Guidance.model_fields}
    kinds = {key: value for key, value in values.items() if key in get_args(Preference)}
    types = {key: value for key, value in values.items() if key in RELATION_TYPES}
    return fields | {"kinds": kinds, "type_weights": types}


def show() -> None:
    """Print the keys of --option and --filter, with what each does."""
    for option, keys in TABLES.items():
        rows = output.table(f"--{option} KEY=VALUE", "key", "meaning")
        for name, key in keys.items():
            choices = f": {', '.join(key.choices)}" if key.choices else ""
            rows.add_row(f"{name}.KEY" if key.form == "pair" else name, key.help + choices)
        output.out.print(rows)
