"""Commands that are imported when they run, so that `--help` stays fast.

    Lazy("streams.cli.memory.query:query")          a function, which Typer makes a command of
    Lazy("streams.cli.operate.topics:app")          a Typer, which is a group

The text in a list is the docstring of the function, or the `help` of the Typer, read from the file's source.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup


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


class LazyGroup(TyperGroup):
    """A group of commands that are imported when they run.  A subclass says which."""

    lazy: ClassVar[Mapping[str, Lazy]] = {}
    _only_summaries = False

    def invoke(self, ctx: Any) -> Any:
        """Run a command; if an option of this group follows the command, report where it belongs."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter.__base__ as error:  # type: ignore[misc]  # a usage error: typer does not export it
            option = getattr(error, "option_name", None)
            if option in {name for each in self.params for name in each.opts}:
                called = f"{ctx.command_path} {option} … {ctx.invoked_subcommand}"
                error.message = f"{option} belongs before the command: {called}"
                error.possibilities = None
            raise

    def list_commands(self, ctx: Any) -> list[str]:
        """List the names in the order in which they are declared."""
        return [*self.lazy, *super().list_commands(ctx)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import a command; while listing all, return one that only has its help text."""
        if cmd_name not in self.lazy:
            return super().get_command(ctx, cmd_name)
        place = self.lazy[cmd_name]
        if self._only_summaries:
            return TyperCommand(cmd_name, help=place.summary())
        return build_command(cmd_name, place.load())

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
    """Build the command `name` from a function or a Typer."""
    if isinstance(source, typer.Typer):
        group = typer.main.get_group(source)  # not get_command, which would offer to install completion again
        group.name = name
        return group
    alone = typer.Typer(add_completion=False)
    alone.command(name)(source)
    return typer.main.get_command(alone)
