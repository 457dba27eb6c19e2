"""No file of the repository says where packages come from: that is the business of whoever installs."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# maven.apache.org is the XML namespace that every POM must name, not a place to fetch from.
HOST = re.compile(
    r"https?://(?!maven\.apache\.org/(?:POM|xsd)/)[\w.@:-]*"
    r"(?:pypi|pythonhosted|maven|nexus|artifactory|registry|mirror|docker\.io)[\w.-]*",
    re.IGNORECASE,
)
SETTING = re.compile(r"(?<!emit-)\bindex-ur[l][ =]+\S|<(?:mirror|repository|pluginRepository)>|_INDEX_UR[L]=")


def registry_hosts(text: str) -> list[str]:
    return [match[0] for pattern in (HOST, SETTING) for match in pattern.finditer(text)]


def repository_files() -> list[Path]:
    """Return what is tracked, or would be after `git add .`."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    return [ROOT / name for name in names if name and (ROOT / name).is_file()]


@pytest.mark.parametrize(
    "line",
    [
        "https:" + "//pypi.example.org/simple",
        "http:" + "//user@nexus.example/repository/maven-public",
        "--index-" + "url https",
        "UV_INDEX_" + "URL=x",
        "<mir" + "ror>",
    ],
)
def test_the_search_would_notice(line: str) -> None:
    assert registry_hosts(line)


def test_no_file_names_a_registry_host() -> None:
    files = repository_files()
    assert ROOT / "requirements.txt" in files
    findings = {
        str(file.relative_to(ROOT)): registry_hosts(file.read_text(encoding="utf-8", errors="replace"))
        for file in files
    }
    assert {name: lines for name, lines in findings.items() if lines} == {}
