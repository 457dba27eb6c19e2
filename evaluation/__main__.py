"""`python -m evaluation FOLDER`: measure every data set of a folder, and store the results as a file.

Each `*.json` of the folder that holds a list is a data set, and so is each folder in it that BEAM or LMEB is in;
NAME_corpus.json holds the passages of NAME.json.  A set that was measured before is measured again; others of the file
stay.  `./scripts/docs` then writes docs/results.md.

recall   what an answer holds, and silence (everything.py)
hooks    what prompts to an agent get (measures/hooks.py)
model    what an answer holds with the model of --embedder (measures/with_model.py); not measured without one

--form measures recall in another form of the same talk (questions/forms.py), as a set of its own: "zh-dev (long)".
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
from evaluation.measures import hooks, with_model
from evaluation.questions.forms import FORMS, UNCHANGED
from evaluation.questions.labelled import DataSet
from streams.cli.shared import output
from streams.plugins.embedders import load
from streams.plugins.model_store import named

RESULTS = Path(__file__).parent / "results.json"
PARTS = ("recall", "hooks", "model")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the data sets, write the results; exit with 2 where there is none."""
    parser = argparse.ArgumentParser(prog="python -m evaluation", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the data sets are")
    parser.add_argument("--only", default="", help="comma-separated names of data sets; all by default")
    parser.add_argument("--part", choices=PARTS, help="measure only this; recall and hooks by default")
    parser.add_argument("--form", default=UNCHANGED, choices=FORMS, help="measure recall in this form of the talk")
    parser.add_argument("--embedder", type=Path, help="the model to measure with, as EMGAS_EMBEDDER names it")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the file to write; evaluation/results.json")
    options = parser.parse_args(arguments)
    if (options.part == "model") != (options.embedder is not None):
        parser.error("--part model needs --embedder, and --embedder is of --part model")
    files = data_sets(options.folder, options.only)
    if not files:
        sys.stderr.write(f"{options.folder} has no such data set: name a folder with LoCoMo conversations as .json\n")
        return 2
    results: dict[str, Any] = json.loads(options.results.read_text("utf-8")) if options.results.exists() else {}
    for file in files:
        name = file.stem if options.form == UNCHANGED else f"{file.stem} ({options.form})"
        results[name] = results.get(name, {}) | _measure(file, options)
        ordered = dict(sorted(results.items()))
        options.results.write_text(json.dumps(ordered, indent=1, ensure_ascii=False) + "\n", "utf-8")
        sys.stdout.write(f"{name}: measured\n")
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


def _measure(file: Path, options: argparse.Namespace) -> dict[str, Any]:
    data = FORMS[options.form](read_file(file, None))
    if options.part == "model":
        return {with_model.PART: _measure_model(data, options.embedder)}
    prompts = hooks.prompts_of(data) if options.part != "recall" and options.form == UNCHANGED else []
    contexts: list[hooks.PromptContext] = []

    async def ask(memory: MemoryClient) -> None:
        contexts.extend(await hooks.ask_hooks(memory, prompts))

    examined, _ = output.run(remember(data, output.settings(), lambda: None, ask))
    measured: dict[str, Any] = {}
    if options.part != "hooks":
        measured = measure_set(examined, time.perf_counter, _generator)
    if prompts:
        always = hooks.five_of_bm25(examined, prompts)
        measured["hooks"] = hooks.measure_hooks(prompts, contexts, always, _generator())
    return measured


def _measure_model(data: DataSet, path: Path) -> dict[str, Any]:
    settings = output.settings()
    path = named(path, settings.data) or path
    examined, _ = output.run(remember(data, settings, lambda: None, embedder=path))
    return with_model.measure_model(examined, load(path), _generator)


def _generator() -> np.random.Generator:
    return np.random.default_rng(SEED)


if __name__ == "__main__":
    sys.exit(main())
