"""Parse outside data into messages, and encode messages as bytes.  Each problem is reported in one sentence.

pydantic finds the problems; this file writes them as "field: what is wrong, what to do".  The client reports them
before sending, importers with the bad line, and the owner of a partition in a dead letter.  No sentence repeats a
value: what people said to each other does not belong in an error message.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from pydantic import ValidationError

from emgas import limits
from emgas.errors import InvalidMessageError
from emgas.messages.fields import TIME_RULE, GraphId, Message

M = TypeVar("M", bound=Message)


class GraphName(Message):
    """A graph id alone."""

    graph: GraphId


_SENTENCES = {
    "missing": "is missing: add it",
    "extra_forbidden": "is not a known field: remove it, or correct its spelling",
    "string_unicode": "holds a lone surrogate, as what is not in UTF-8 does here: save it in UTF-8",
    "model_type": "must be a JSON object",
    "model_attributes_type": "must be a JSON object",
    "union_tag_not_found": "has no `kind`: add one",
    "dict_type": "must be a JSON object",
    "list_type": "must be a list",
    "string_type": "must be text",
    "none_required": "must be left out",
    "finite_number": "must be a finite number",
    "greater_than_equal": "must be at least {ge}",
    "greater_than": "must be more than {gt}",
    "less_than_equal": "must be at most {le}",
    "less_than": "must be less than {lt}",
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
    "string_pattern_mismatch": "must match the pattern {pattern}",
    "string_too_long": "must have at most {max_length} characters",
    "too_long": "must have at most {max_length} items",
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float", "int_parsing_size"), "must be a whole number"),
    **dict.fromkeys(("float_type", "float_parsing"), "must be a number"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "must be true or false"),
    **dict.fromkeys(("byte_size", "byte_size_unit"), "write a number and a unit, as in 512MiB"),
}
_NOT_JSON = {  # words of the parsers (pydantic's and orjson) in their errors, and ours; the first that fits
    "eof": "it ends too early",
    "end of data": "it ends too early",
    "empty": "it is empty",
    "trailing comma": "a comma stands before a closing bracket",
    "trailing char": "something follows the end",
    "after document": "something follows the end",
    "control char": "a line break or control character in a text must be written as \\n or \\u0000",
    "surrogate": "a character is not valid UTF-8",
    "unicode": "a character is not valid UTF-8",
    "escape": "a backslash begins no known escape",
    "recursion": "it is nested too deeply",
    "allocate": "it is nested too deeply",
    "key must": "a key must stand in double quotes",
    "string key": "a key must stand in double quotes",
    "expected `:": "a colon is missing after a key",
    "expected ':": "a colon is missing after a key",
    "expected `,": "a comma or a closing bracket is missing",
    "expected ',": "a comma or a closing bracket is missing",
    "number": "a number is not valid",
}
_OF_ANY_FIELD = {"missing", "extra_forbidden", "string_unicode", "model_type"}
_LEAST = {"string_too_short": "character", "too_short": "item"}
_TIMES = {"at", "as_of", "since", "until"}
_METADATA = f"must be a string of at most {limits.METADATA_CHARACTERS} characters, a finite number, true, false or null"


def build(model: type[M], fields: Mapping[str, Any]) -> M:
    """Build `model(**fields)`.  Raises InvalidMessageError, which names every problem."""
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        raise InvalidMessageError(describe(error)) from None


def checked_graph(name: str) -> str:
    """Return a graph id as messages hold it.  Raises InvalidMessageError."""
    return build(GraphName, {"graph": name}).graph


def parse(model: type[M], raw: bytes | str) -> M:
    """Read the message that `raw` JSON holds.  Raises InvalidMessageError, which names every problem."""
    try:
        return model.model_validate_json(raw)
    except ValidationError as error:
        raise InvalidMessageError(describe(error)) from None


def encode(message: Message) -> bytes:
    """Encode a message as a record's value.  Raises InvalidMessageError when it is over its `most_bytes`."""
    value = message.model_dump_json().encode()
    most = getattr(message, "most_bytes", limits.RECORD_BYTES)
    if len(value) > most:
        raise InvalidMessageError(
            f"record: is {len(value)} bytes of JSON, the limit is {most}: shorten text or metadata"
        )
    return value


def not_json(error: object) -> str:
    """Write what makes a text invalid JSON, and where, from a parser's error.  A single line has no number."""
    report = str(error)
    what = next((words for mark, words in _NOT_JSON.items() if mark in report.lower()), "a value is expected")
    at = re.search(r"line (\d+) column (\d+)", report)
    line = "" if at is None or at[1] == "1" else f"line {at[1]}, "
    return f"is not valid JSON: {what}" + ("" if at is None else f" ({line}column {at[2]})")


def describe(error: ValidationError) -> str:
    """Write one sentence per problem, in the order of the fields, joined by "; "."""
    tagged = error.title.startswith("tagged-union")  # then the tag comes first in a location, and says nothing
    return describe_all(error.errors(include_url=False, include_input=False), skip=int(tagged))


def describe_value(error: ValidationError) -> str:
    """Write what is wrong with a value that has no fields, such as an option of a command."""
    return "; ".join(dict.fromkeys(map(sentence, error.errors(include_url=False, include_input=False))))


def describe_variables(error: ValidationError) -> str:
    """Write what is wrong with settings that come from EMGAS_* variables."""
    problems = error.errors(include_url=False, include_input=False)
    return "; ".join(dict.fromkeys(_variable(problem) + sentence(problem) for problem in problems))


def _variable(problem: Mapping[str, Any]) -> str:
    name = ".".join(map(str, problem["loc"])).upper()
    return f"EMGAS_{name}: " if name else ""  # an error between several settings names them


def describe_all(problems: Iterable[Mapping[str, Any]], *, skip: int = 0) -> str:
    """Write the sentences of pydantic's problems; `skip`: parts at the beginning of each location that say nothing."""
    sentences: dict[str, str] = {}
    for problem in problems:
        location = tuple(problem["loc"][skip:])
        place = _place(location)
        # One bad metadata value fails once per type it might have had.  Only a validator of ours knows more than that.
        if place not in sentences or problem["type"] == "value_error":
            sentences[place] = sentence(problem, location) if place else _of_whole(problem)
    missing = [place for place, each in sentences.items() if each == _SENTENCES["missing"] and place]
    if len(missing) > 1:
        sentences = {place: each for place, each in sentences.items() if place not in missing}
        sentences = {"": f"`{'`, `'.join(missing[:-1])}` and `{missing[-1]}` are missing: add them", **sentences}
    return "; ".join(map(_located, sentences, sentences.values()))


def _of_whole(problem: Mapping[str, Any]) -> str:
    """Write a problem of the message itself.  Our validators name what they mean."""
    if problem["type"] == "missing":
        return "there is no JSON object: send one"
    return sentence(problem) if problem["type"] == "value_error" else f"this {sentence(problem)}"


def _located(place: str, each: str) -> str:
    """Write where a problem is before its sentence; what is wrong between several fields names them itself."""
    return f"{place}: {each}" if place and not each.startswith("`") else each


def _place(location: tuple[int | str, ...]) -> str:
    """Return the place of a problem: `text`, `spreading.delta`, `metadata.source`; "" for the message as a whole."""
    parts = location[:2] if location[:1] == ("metadata",) else location
    return ".".join(printable(str(part)) for part in parts)


def printable(name: str) -> str:
    """Return a sender's name as printable text: shortened, with other characters escaped."""
    name = name if len(name) <= 40 else name[:40] + "…"
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in name)


def sentence(problem: Mapping[str, Any], location: tuple[int | str, ...] = ()) -> str:  # noqa: PLR0911 - a table of cases
    """Write one of pydantic's problems, at a location, in our words."""
    kind, context = problem["type"], problem.get("ctx", {})
    if kind == "value_error":
        return str(context["error"])
    if kind == "json_invalid":
        return f"{not_json(context['error'])}. Write one JSON object, in UTF-8"
    if kind == "union_tag_invalid":
        return f"has an unknown `kind`: it must be one of {context['expected_tags']}"
    if location and location[-1] in _TIMES and location[0] != "metadata" and kind not in _OF_ANY_FIELD:
        return TIME_RULE
    if location[:1] == ("metadata",) and len(location) > 1 and kind not in _OF_ANY_FIELD:
        return _METADATA
    if kind in _LEAST:
        least = context["min_length"]
        return f"must have at least {least} {_LEAST[kind]}{'s' * (least != 1)}"
    template = _SENTENCES.get(kind)
    values = {name: _plain(value) for name, value in context.items()}
    return template.format(**values) if template else "is not a valid value"


def _plain(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value
