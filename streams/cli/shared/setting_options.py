"""Memory settings on the command line: an option for each, made from where it is declared (memory_settings.py)."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

import typer

from emgas.errors import InvalidMessageError
from emgas.messages.settings.memory_settings import PRESETS, AllSettings, Settings, is_duration
from emgas.validation import build
from streams.cli.shared import output, times

Command = TypeVar("Command", bound=Callable[..., None])
NAMES = tuple(AllSettings.model_fields)
PRESET_NAMES = ", ".join(PRESETS)
_SCHEMA: dict[str, dict[str, Any]] = AllSettings.model_json_schema()["properties"]


def check_preset(name: str | None) -> str | None:
    """Return the name of a preset if there is one, else exit with a list of all."""
    if name is not None and name not in PRESETS:
        output.fail(f"there is no preset {name}: choose one of {PRESET_NAMES}", output.USAGE)
    return name


Preset = Annotated[str | None, typer.Option(help=f"Named set of settings: {PRESET_NAMES}.", callback=check_preset)]
PresetOfNew = Annotated[str | None, typer.Option(help=f"Preset of new graphs: {PRESET_NAMES}.", callback=check_preset)]


def with_setting_options(command: Command) -> Command:
    """Add an option per setting to `command`; it gets them as keywords, None if an option is missing."""
    own = inspect.signature(command, eval_str=True).parameters.values()
    named = [parameter for parameter in own if parameter.kind is not inspect.Parameter.VAR_KEYWORD]
    signature = inspect.Signature([*named, *map(_option, NAMES)])
    command.__signature__ = signature  # type: ignore[attr-defined]  # what Typer makes options from
    return command


def _option(name: str) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=_annotation(name))


def _annotation(name: str) -> Any:
    field = AllSettings.model_fields[name]
    description = (field.description or "")[:1].upper() + (field.description or "")[1:] + "."
    if is_duration(name):
        return Annotated[int | None, typer.Option(parser=_duration_of(name), metavar="DURATION", help=description)]
    return Annotated[field.annotation | None, typer.Option(help=description)]  # type: ignore[operator]


def _duration_of(name: str) -> Callable[[str], int]:
    """Return a parser that checks the bounds of a setting: here, they can be reported as durations instead of ms."""

    def parsed(text: str) -> int:
        duration = times.duration(text)
        try:
            build(Settings, {name: duration})
        except InvalidMessageError:
            raise typer.BadParameter(f"{text} is out of bounds: use {bounds(name)}") from None
        return duration

    return parsed


def assignment(text: str) -> tuple[str, float]:
    """Read "half-life=7d" as a setting and its value.  Raises InvalidMessageError, BadParameter."""
    written, _, value = text.partition("=")
    name = written.strip().replace("-", "_")
    if name not in NAMES:
        raise InvalidMessageError(f"--set {text}: there is no setting {written.strip()}")
    if is_duration(name):
        return name, _duration_of(name)(value)
    number = AllSettings.model_fields[name].annotation
    try:
        return name, int(value) if number is int else float(value)
    except ValueError:
        required = "a whole number" if number is int else "a number"
        raise InvalidMessageError(f"--set {text}: {written.strip()} must be {required}") from None


def spoken(name: str, value: float) -> str:
    """Write a setting's value for people: "60d", "0.03"."""
    if is_duration(name):
        return times.spoken(int(value))
    return str(value) if isinstance(value, int) else f"{value:g}"


def bounds(name: str) -> str:
    """Write the bounds of a setting for people: "1ms to 36600d", "over 0 to 2"."""
    schema = _SCHEMA[name]
    least = (
        spoken(name, schema["minimum"]) if "minimum" in schema else f"over {spoken(name, schema['exclusiveMinimum'])}"
    )
    return f"{least} to {spoken(name, schema['maximum'])}"
