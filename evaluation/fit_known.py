"""`python -m evaluation.fit_known FOLDER`: fit the weights of `known` to every data set of a folder, and print a table.

    each data set   judged by weights and thresholds that were fitted to all the others (fit/knowing.py)
    all of them     what the weights and thresholds for the product are fitted to; --write stores them and the table

They are stored as the product reads them, data/known.tsv of its room, and with the table as evaluation/known.json.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from evaluation.__main__ import data_sets
from evaluation.command import SEED, read_file
from evaluation.contexts import of_product
from evaluation.fit.knowing import MemoryCases, fit, left_out, report
from evaluation.logged_memory import remember
from evaluation.measure import Examined
from evaluation.measures.silence import ask_all
from evaluation.memory import EvaluatedMemory
from evaluation.questions.labelled import LabelledQuestion
from processors.recall.ranking import silence
from processors.recall.ranking.inquiry import Inquiry
from processors.recall.ranking.query_terms import find_query_terms
from processors.recall.ranking.silence.evidence import EVIDENCE, find_evidence
from processors.recall.ranking.silence.known import Baselines, Weights, general_evidence, rounded
from state.arrays import Floats
from streams.cli.shared import output

SHIPPED: Final = Path(silence.__file__).parent / "data" / "known.tsv"
STORED: Final = Path(__file__).parent / "known.json"
HEAD: Final = """\
# name	number: what evidence (silence/evidence.py) is worth in log-odds, and the likelihoods below which a question
# gets nothing, by default and in mode inject.  Do not edit: `python -m evaluation.fit_known FOLDER --write` writes it.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit, print the table, and store both if asked to; exit with 2 where a folder has fewer than two data sets."""
    parser = argparse.ArgumentParser(prog="python -m evaluation.fit_known", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the data sets are")
    parser.add_argument("--only", default="", help="comma-separated names of data sets; all by default")
    parser.add_argument("--write", action="store_true", help="store the weights for the product, and the table")
    options = parser.parse_args(arguments)
    files = data_sets(options.folder, options.only)
    if len(files) < 2:
        sys.stderr.write(f"{options.folder} has no two such data sets: one is judged by what the others choose\n")
        return 2
    cases = [each for file in files for each in _cases(file)]
    weights, table = fit(cases), report(cases, left_out(cases))
    sys.stdout.write(shown(table) + "\n" + written(weights))
    if options.write:
        SHIPPED.write_text(written(weights), "utf-8")
        STORED.write_text(json.dumps({"weights": named(weights), "forms": table}, indent=1) + "\n", "utf-8")
    return 0


def named(weights: Weights) -> dict[str, float]:
    """Name the numbers of weights as data/known.tsv does."""
    of_evidence = dict(zip(EVIDENCE, weights.evidence.tolist(), strict=True))
    return {**of_evidence, "constant": weights.constant, "silent": weights.silent, "inject": weights.inject}


def written(weights: Weights) -> str:
    """Write weights as the product reads them."""
    return HEAD + "".join(f"{name}\t{value:g}\n" for name, value in named(weights).items())


def shown(table: Mapping[str, Mapping[str, float]]) -> str:
    """Write a table as lines of columns, a form in each."""
    names, width = list(table["mean"]), max(map(len, table))
    lines = [" ".join(["".ljust(width), *(name.rjust(len(name) + 1) for name in names)])]
    for form, row in table.items():
        cells = ((f"{row[name]:g}" if name in row else "").rjust(len(name) + 1) for name in names)
        lines.append(" ".join([form.ljust(width), *cells]))
    return "\n".join(lines) + "\n"


def _cases(file: Path) -> list[MemoryCases]:
    """Publish a data set, and find the evidence for all questions in its memories."""
    examined, _ = output.run(remember(read_file(file, None), output.settings(), lambda: None))
    return cases_of(file.stem, [each for each in examined if each.questions])


def cases_of(form: str, examined: Sequence[Examined]) -> list[MemoryCases]:
    """Find the evidence for all questions that are put to the memories of a form."""
    asked = list(ask_all(examined, np.random.default_rng(SEED)))
    result = []
    for place, each in enumerate(examined):
        recalls = iter(of_product(each, min_likelihood=0.0)[:, 0].tolist())
        here = [(kind, question) for kind, where, question in asked if where == place]
        own = [next(recalls) if kind in {"own", "adversarial"} else 0.0 for kind, _ in here]
        view, memory = each.memory.view, each.memory
        general = general_evidence(view, Baselines(memory.extractor).general(view.concept_table), rounded(view.turns))
        rows = np.array([_evidence(memory, question) for _, question in here])
        result.append(MemoryCases(form, general, rows, np.array([kind for kind, _ in here]), np.array(own)))
    return result


def _evidence(memory: EvaluatedMemory, question: LabelledQuestion) -> Floats:
    concepts = memory.question(question.text)
    terms = find_query_terms(memory.view, concepts, question.text)
    inquiry = Inquiry(memory.view, terms, np.zeros(memory.view.concepts))
    return find_evidence(inquiry, concepts, question.text, memory.view.turns)


if __name__ == "__main__":
    sys.exit(main())
