"""`python -m evaluation FOLDER`: measure every data set of a folder, and store the results as a file.

Each `*.json` of the folder that holds a list is a data set, and so is each folder in it that BEAM or LMEB is in;
NAME_corpus.json holds the passages of NAME.json.  A set that was measured before is measured again; others of the file
stay.  `./scripts/docs` then writes docs/results.md.

recall   what an answer holds, and silence (everything.py)      hooks   what prompts to an agent get (measures/hooks.py)
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from emgas.client.client import MemoryClient
from evaluation.command import SEED, read_file
from evaluation.everything import measure_set
from evaluation.folders import is_data_set
from evaluation.logged_memory import remember
from evaluation.measures import hooks
from streams.cli.shared import output

RESULTS = Path(__file__).parent / "results.json"
PARTS = ("recall", "hooks")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the data sets, write the results; exit with 2 where there is none."""
    parser = argparse.ArgumentParser(prog="python -m evaluation", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the data sets are")
    parser.add_argument("--only", default="", help="comma-separated names of data sets; all by default")
    parser.add_argument("--part", choices=PARTS, help="measure only this; both by default")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the file to write; evaluation/results.json")
    options = parser.parse_args(arguments)
    files = data_sets(options.folder, options.only)
    if not files:
        sys.stderr.write(f"{options.folder} has no such data set: name a folder with LoCoMo conversations as .json\n")
        return 2
    results: dict[str, Any] = json.loads(options.results.read_text("utf-8")) if options.results.exists() else {}
    for file in files:
        parts = PARTS if options.part is None else (options.part,)
        results[file.stem] = results.get(file.stem, {}) | _measure(file, parts)
        ordered = dict(sorted(results.items()))
        options.results.write_text(json.dumps(ordered, indent=1, ensure_ascii=False) + "\n", "utf-8")
        sys.stdout.write(f"{file.stem}: measured\n")
        sys.stdout.flush()
    return 0


def data_sets(folder: Path, only: str) -> list[Path]:
    """List the data sets of a folder, but for corpora and what is not among the comma-separated names."""
    names = {name.strip() for name in only.split(",") if name.strip()}
    files = sorted(file for file in folder.glob("*.json") if not file.stem.endswith("_corpus") and _is_list(file))
    files += sorted(each for each in folder.iterdir() if each.is_dir() and is_data_set(each))
    return [file for file in files if file.stem in names or not names]


def _is_list(file: Path) -> bool:
    """Return whether a file holds a JSON array, as conversations and questions do; other files beside them do not."""
    with file.open(encoding="utf-8") as stream:
        return stream.read(1024).lstrip().startswith("[")


def _measure(file: Path, parts: Sequence[str]) -> dict[str, Any]:
    data = read_file(file, None)
    prompts = hooks.prompts_of(data) if "hooks" in parts else []
    contexts: list[hooks.PromptContext] = []

    async def ask(memory: MemoryClient) -> None:
        contexts.extend(await hooks.ask_hooks(memory, prompts))

    examined, _ = output.run(remember(data, output.settings(), lambda: None, ask))
    measured: dict[str, Any] = {}
    if "recall" in parts:
        measured = measure_set(examined, time.perf_counter, _generator)
    if prompts:
        always = hooks.five_of_bm25(examined, prompts)
        measured["hooks"] = hooks.measure_hooks(prompts, contexts, always, _generator())
    return measured


def _generator() -> np.random.Generator:
    return np.random.default_rng(SEED)


if __name__ == "__main__":
    sys.exit(main())
