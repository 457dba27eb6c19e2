"""Says what services of advisories answered: `audit_report.py FOLDER` of pip-audit's JSON reports, one of each service.

Exit 1 when a dependency is known to be vulnerable, 69 (EX_UNAVAILABLE) when no service knew any of them.
"""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

RULE = "=" * 78


def dependencies(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield what each service says of each dependency; of one that it does not know, why it was skipped."""
    for file in folder.glob("*.json"):
        if file.stat().st_size:  # else that service did not answer at all
            yield from json.loads(file.read_text())["dependencies"]


def report(folder: Path) -> int:
    """Print what is known; return the exit code."""
    reports = list(dependencies(folder))
    named = {each["name"] for each in reports if "version" in each}
    missed = {each["name"] for each in reports} - named
    problems = {
        f"{each['name']} {each['version']}: {hole['id']}, mended in {', '.join(hole['fix_versions']) or 'no version'}"
        for each in reports
        for hole in each.get("vulns", ())
    }
    for problem in sorted(problems):
        say(problem)
    if not named:
        silence = " NOT AUDITED: no service of advisories answers from here, so nothing is known."
        print(RULE, silence, RULE, sep="\n", file=sys.stderr)
        return os.EX_UNAVAILABLE
    if missed:
        say(f"NOT KNOWN to any service: {', '.join(sorted(missed))}")
    say(f"{len(named)} dependencies asked for, {len(problems)} vulnerabilities")
    return int(bool(problems))


def say(message: str) -> None:
    """Print a message to stderr."""
    print(f"audit: {message}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(report(Path(sys.argv[1])))
