"""Commands that are imported when they run, so that `--help` stays fast.

    Lazy("streams.cli.memory.query:query")          a function, which Typer makes a command of
    Lazy("streams.cli.exchange.topics:app")          a Typer, which is a group
    Contributed("serve")                            a command of a layer above, known by its entry point

The text in a list is the docstring of the function, or the `help` of the Typer, read from the file's source.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup
from typer.models import DefaultPlaceholder

UsageError: type[Any] = typer.BadParameter.__base__  # type: ignore[assignment]  # typer does not export it


class Lazy(str):
    """The place of a command: "package.module:name"."""

    __slots__ = ()

    @property
    def module(self) -> str:
        """The module that holds it."""
        return self.partition(":")[0]

    def load(self) -> Any:
        """Import it: a function or a Typer."""
        return getattr(import_module(self.module), self.partition(":")[2])

    def summary(self) -> str:
        """Read its help text without importing its dependencies."""
        return _summary(self.module, self.partition(":")[2])


class Contributed(str):
    """The name of a command that another layer or package contributes; it may not be installed."""

    __slots__ = ()

    def resolve(self) -> Lazy | None:
        """Return its place, if it is installed."""
        return contributions().get(self)


@cache
def contributions() -> dict[str, Lazy]:
    """Find the commands of layers above and of other packages, by their entry points."""
    from importlib.metadata import entry_points  # here: takes a tenth of a second, and most commands are our own

    entries = entry_points(group="emgas.commands")
    return {entry.name: Lazy(entry.value) for entry in entries if find_spec(entry.module)}


@cache
def _summary(module: str, name: str) -> str:
    spec = find_spec(module)
    source = spec.loader.get_source(module) if spec and spec.loader else None  # type: ignore[attr-defined]
    for node in ast.parse(source or "").body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return ast.get_docstring(node) or ""
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name and isinstance(node.value, ast.Call):
            return next(
                (ast.literal_eval(keyword.value) for keyword in node.value.keywords if keyword.arg == "help"), ""
            )
        if isinstance(node, ast.ImportFrom) and name in [alias.asname or alias.name for alias in node.names]:
            return _summary(str(node.module), name)
    return ""


def _in_our_words(cause: BaseException, message: str) -> str:
    from pydantic import ValidationError  # here: most values fit

    from emgas.validation import describe_value

    return describe_value(cause) if isinstance(cause, ValidationError) else message


class _PlainFlags:
    """Shows no type beside a flag: nothing is to be written after it."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, with `--help`."""
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if getattr(param, "is_flag", False):
                param.metavar = param.metavar or ""
        return params


class PlainCommand(_PlainFlags, TyperCommand):
    """A command whose help shows no type beside a flag."""


class PlainGroup(_PlainFlags, TyperGroup):
    """A group whose help shows no type beside a flag."""


def _elsewhere(ctx: Any, word: str) -> str | None:
    """Find the group in which there is a command of this name: `undo` is `replay undo`."""
    root = ctx.find_root().command
    groups = ((name, root.get_command(ctx, name)) for name in root.list_commands(ctx))
    found = (name for name, group in groups if isinstance(group, LazyGroup) and word in group.list_commands(ctx))
    return next((f"{name} {word}" for name in found), None)


class LazyGroup(PlainGroup):
    """A group of commands that are imported when they run.

    lazy      the commands by name, in the order in which a list shows them
    panels    the title under which a list shows a command, by its name
    aliases   former names and the words of the present ones, as {"themes": "look themes"}; a list leaves them out
    synonyms  what people may type instead of a command; only suggested
    """

    lazy: ClassVar[Mapping[str, Lazy | Contributed]] = {}
    panels: ClassVar[Mapping[str, str]] = {}
    aliases: ClassVar[Mapping[str, str]] = {}
    synonyms: ClassVar[Mapping[str, str]] = {}
    _only_summaries = False

    def invoke(self, ctx: Any) -> Any:
        """Run a command; if an option of this group follows the command, report where it belongs."""
        try:
            return super().invoke(ctx)
        except UsageError as error:
            option = getattr(error, "option_name", None)
            if error.__cause__ is not None:
                error.message = _in_our_words(error.__cause__, error.message)
            if option in {name for each in self.params for name in each.opts}:
                called = f"{ctx.command_path} {option} … {ctx.invoked_subcommand}"
                error.message = f"{option} belongs before the command: {called}"
                error.possibilities = None
            elif hasattr(error, "possibilities") and option and not option.startswith("--"):  # "-5 degrees today"
                error.message = f"No such option: {option}. If it begins a text, write -- before the text"
            raise

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that is called; if there is none, suggest what may be meant."""
        try:
            return super().resolve_command(ctx, args)
        except UsageError as error:
            if meant := self._meant(ctx, args[0]):
                error.message = f"No such command '{args[0]}'. Did you mean `emgas {meant}`?"
            raise

    def _meant(self, ctx: Any, word: str) -> str | None:
        words = {name: name for name in self.list_commands(ctx)} | {**self.aliases, **self.synonyms}
        close = get_close_matches(word.lower(), words, n=1)
        return " ".join([*ctx.command_path.split()[1:], words[close[0]]]) if close else _elsewhere(ctx, word.lower())

    def list_commands(self, ctx: Any) -> list[str]:
        """List the names in the order in which they are declared."""
        return [*(name for name in self.lazy if self._place(name)), *super().list_commands(ctx)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import a command; while listing all, return one that only has its help text."""
        group, _, name = self.aliases.get(cmd_name, "").rpartition(" ")
        if group:
            return self.get_command(ctx, group).get_command(ctx, name)
        place = self._place(self.aliases.get(cmd_name, cmd_name))
        if place is None:
            return super().get_command(ctx, cmd_name)
        if self._only_summaries:
            return TyperCommand(cmd_name, help=place.summary(), rich_help_panel=self.panels.get(cmd_name))
        return build_command(cmd_name, place.load())

    def _place(self, name: str) -> Lazy | None:
        place = self.lazy.get(name)
        return place.resolve() if isinstance(place, Contributed) else place

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """List the commands without an import."""
        with self._summaries():
            super().format_help(ctx, formatter)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Complete a name without an import."""
        with self._summaries():
            return super().shell_complete(ctx, incomplete)

    @contextmanager
    def _summaries(self) -> Iterator[None]:
        self._only_summaries = True
        try:
            yield
        finally:
            self._only_summaries = False


def build_command(name: str, source: Any) -> Any:
    """Build the command `name` from a function or a Typer.  A function may name its class as `command_class`."""
    if isinstance(source, typer.Typer):
        for command in source.registered_commands:
            command.cls = PlainCommand if command.cls is TyperCommand else command.cls
        if source.info.cls is TyperGroup or isinstance(source.info.cls, DefaultPlaceholder):
            source.info.cls = PlainGroup
        group = typer.main.get_group(source)  # not get_command, which would offer to install completion again
        group.name = name
        return group
    alone = typer.Typer(add_completion=False)
    alone.command(name, cls=getattr(source, "command_class", PlainCommand))(source)
    return typer.main.get_command(alone)
