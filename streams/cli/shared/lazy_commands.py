"""Commands that are imported when they run: a list of them costs no more than reading what they say of themselves.

    Lazy("streams.cli.memory.query:query")          a function, which Typer makes a command of
    Lazy("streams.cli.operate.topics:app")          a Typer, which is a group

What a list tells is the docstring of the function, or the `help` of the Typer, read from the file's source.
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
    """Where a command lies: "package.module:name"."""

    __slots__ = ()

    @property
    def module(self) -> str:
        """The module that holds it."""
        return self.partition(":")[0]

    def load(self) -> Any:
        """Import it: a function or a Typer."""
        return getattr(import_module(self.module), self.partition(":")[2])

    def told(self) -> str:
        """Read what it says of itself, without an import of what it needs."""
        return _told(self.module, self.partition(":")[2])


@cache
def _told(module: str, name: str) -> str:
    spec = find_spec(module)
    source = spec.loader.get_source(module) if spec and spec.loader else None  # type: ignore[attr-defined]
    for node in ast.parse(source or "").body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return ast.get_docstring(node) or ""
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name and isinstance(node.value, ast.Call):
            return next((ast.literal_eval(given.value) for given in node.value.keywords if given.arg == "help"), "")
        if isinstance(node, ast.ImportFrom) and name in [alias.asname or alias.name for alias in node.names]:
            return _told(str(node.module), name)
    return ""


class LazyGroup(TyperGroup):
    """A group of commands that are imported when they run.  A subclass says which."""

    lazy: ClassVar[Mapping[str, Lazy]] = {}
    _only_told = False

    def invoke(self, ctx: Any) -> Any:
        """Run a command; of an option of this group that stands behind the command, tell where it belongs."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter.__base__ as error:  # type: ignore[misc]  # a usage error: typer does not export it
            option = getattr(error, "option_name", None)
            if option in {name for each in self.params for name in each.opts}:
                called = f"{ctx.command_path} {option} … {ctx.invoked_subcommand}"
                error.message = f"{option} stands before the command: {called}"
                error.possibilities = None
            raise

    def list_commands(self, ctx: Any) -> list[str]:
        """List the names in the order in which they are declared."""
        return [*self.lazy, *super().list_commands(ctx)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import a command; while a list of all is made, give what only tells of it."""
        if cmd_name not in self.lazy:
            return super().get_command(ctx, cmd_name)
        found = self.lazy[cmd_name]
        if self._only_told:
            return TyperCommand(cmd_name, help=found.told())
        return made(cmd_name, found.load())

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """List the commands without an import."""
        with self._telling():
            super().format_help(ctx, formatter)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Complete a name without an import."""
        with self._telling():
            return super().shell_complete(ctx, incomplete)

    @contextmanager
    def _telling(self) -> Iterator[None]:
        self._only_told = True
        try:
            yield
        finally:
            self._only_told = False


def made(name: str, found: Any) -> Any:
    """Make the command `name` of a function or a Typer."""
    if isinstance(found, typer.Typer):
        group = typer.main.get_group(found)  # not get_command, which would offer to install completion again
        group.name = name
        return group
    alone = typer.Typer(add_completion=False)
    alone.command(name)(found)
    return typer.main.get_command(alone)
