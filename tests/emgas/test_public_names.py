"""What `import emgas` gives is what the documentation promises, and it is typed."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.resources import files

import pytest

import emgas
from emgas import errors
from tests.support.cli import ROOT

DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def promised() -> list[str]:
    """List the names in the tables of docs/wire.md, "In Python"."""
    section = (ROOT / "docs" / "wire.md").read_text(encoding="utf-8").partition("\n## In Python\n")[2]
    rows = re.findall(r"^\| (`.*?`) \|", section.partition("\n## ")[0], re.MULTILINE)
    return [name for row in rows for name in re.findall(r"`(\w+)`", row)]


def test_the_public_names_are_the_ones_that_the_documentation_promises() -> None:
    assert sorted(promised()) == sorted(emgas.__all__)


@pytest.mark.parametrize("name", emgas.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(emgas, name) is not None


def test_every_example_in_the_documentation_imports_public_names_only() -> None:
    imported = [
        name.strip()
        for document in DOCUMENTS
        for names in re.findall(r"^from emgas import (.+)$", document.read_text(encoding="utf-8"), re.MULTILINE)
        for name in names.split(",")
    ]
    assert {"MemoryClient", "Turn"} <= set(imported) <= set(emgas.__all__)


def test_every_error_is_public_and_drawn_in_the_tree_and_its_name_says_that_it_is_one() -> None:
    raised = {name for name, value in vars(errors).items() if isinstance(value, type)}
    assert all(name.endswith("Error") and issubclass(getattr(errors, name), emgas.EmgasError) for name in raised)
    assert raised <= set(emgas.__all__)
    assert raised == set(re.findall(r"^[│├└─ ]*(\w+Error)\b", errors.__doc__ or "", re.MULTILINE))


def test_the_package_says_that_it_is_typed() -> None:
    assert (files("emgas") / "py.typed").is_file()


def test_importing_the_client_needs_no_kafka_client() -> None:
    script = (
        "import sys, emgas; print([name for name in sys.modules if name.partition('.')[0] in ('aiokafka', 'faust')])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
