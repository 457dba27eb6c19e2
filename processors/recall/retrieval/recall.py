"""Recall: compute the activated concepts and the best passages for a question, from a view that stays unchanged.

    question → seeds → spreading activation → energies → flow to turns → scores of passages → ranking

The score of a passage adds the energy that flows to it over typed edges, and its own features (edge_scores.py,
features.py, weights.py).  Other retrievers are policies (policies.py); retrieval.py chooses.

A query never changes state (SEEDS trap T8): a reinforcing query should record `RecallResult.recalled`.  That depends
only on the question and the graph, not on how many results the asker wants.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Final, NamedTuple

import numpy as np

from emgas.limits import EARLIEST_MS
from emgas.messages.filters import Filter
from emgas.messages.queries import ActivatedConcept, MemoryKind
from emgas.messages.settings.modes import Mode, Rerank, Stage
from processors.extraction.extractor import Extraction
from processors.recall.ranking.activation import DEFAULT, Activation, SpreadingParameters, spread
from processors.recall.ranking.associations import associations
from processors.recall.ranking.best_turns import FEW, best_turns
from processors.recall.ranking.edge_scores import Mask
from processors.recall.ranking.filters import NO_FILTER, Allowed
from processors.recall.ranking.inquiry import Inquiry
from processors.recall.ranking.kinds import KINDS, MemoryKindRules
from processors.recall.ranking.passage_scores import DENSITY, per_token
from processors.recall.ranking.query_terms import QueryTerms, find_query_terms
from processors.recall.ranking.silence.evidence import find_evidence
from processors.recall.ranking.succession import succeeded
from processors.recall.ranking.weights import DEFAULT_FLOW, FlowWeights
from processors.recall.ranking.working_memory import decay, going_on, in_mind, keywords, weighed
from processors.text.language import clean
from processors.text.questions import complexity
from processors.text.questions.answer_kinds import LEAST_DEPTH, depth, greets
from processors.text.questions.continuations import continuation
from processors.text.shown import Shown
from state.arrays import Floats, Integers
from state.graph.view import GraphView

MOST_RECALLED: Final = 10  # concepts that a reinforcing query records besides its seeds: the strongest
LOOKED_AT: Final = 5  # times as many words as are listed: some of them are left out as not fit for people
DROP: Final = 6.0  # of scores, behind the third best, from which a context shows no more (docs/recall.md)
MASS: Final = 0.95  # of all that passages promise, beyond which a context shows no more of them
EVEN: Final = 1.5  # what scores are divided by for that: they are surer of the best than they are right
EVEN_BY_VECTORS: Final = 2.0  # the same, where likeness of vectors is among what a score adds up
EPISODIC: Final = ("inherited", "session", "coverage", "reply")  # edge types within what was said in one place,
SEMANTIC: Final = ("association", "bridge", "kinds")  # and between what belongs together, wherever it was said
RECALLED_ABOVE: Final = 0.1  # energy that they need, as a share of a seed's 1.0


@dataclass(frozen=True)
class RecallOptions:
    """The options of a recall.

    spreading  the constants of the mode's retriever, or a variation of them by `dataclasses.replace`
    concepts   how many of the most active concepts to list
    passages   how many passages to rank at most; for a context, `most_lines` (context.py) decides;
               None: as many as the question needs (processors/text/questions/answer_kinds.py `depth`)
    flow       default mode: the weight of each edge type and each property of a turn (weights.py)
    asker      the speaker that "my" means; "" if unknown
    only       which passages may come back, its concepts by id; its metadata is ignored (filters.py)
    few        largest number of turns in a graph that is searched whole (best_turns.py): it changes no result
    memory     kind of memory (kinds.py)
    session    conversation that is continued, None for none, as it is at `now` (ms)
    rerank     reranker of the best passages (policies.py), None for none
    weak       ids of concepts that are weak seeds: what a mood or a role adds
    depth      how thorough the search is, 0 to 1; None: as the question's words tell
    rounds     2: search again with the words of the best passages of the first round
    episodic, semantic  weights of links within one place, and of links between concepts; by default 1 each
    """

    mode: Mode = "default"
    spreading: SpreadingParameters = DEFAULT
    concepts: int = 10
    passages: int | None = 100
    flow: FlowWeights = DEFAULT_FLOW
    asker: str = ""
    only: Filter = NO_FILTER
    few: int = FEW
    memory: MemoryKind = "all"
    session: str | None = None
    now: int = EARLIEST_MS
    rerank: Rerank | None = None
    weak: tuple[str, ...] = ()
    depth: float | None = None
    rounds: int = 1
    episodic: float = 1.0
    semantic: float = 1.0

    @property
    def kind(self) -> MemoryKindRules:
        """Return what is different about the kind of memory that is asked."""
        return KINDS[self.memory]

    @property
    def weights(self) -> FlowWeights:
        """Return the weights of features."""
        flow = self.flow.replace(**dict.fromkeys(self.kind.without, 0.0)) if self.kind.without else self.flow
        if self.episodic == self.semantic == 1.0:
            return flow
        return flow.replace(
            **{name: flow[name] * self.episodic for name in EPISODIC},
            **{name: flow[name] * self.semantic for name in SEMANTIC},
        )

    @property
    def looked_at(self) -> int:
        """Return the number of most active concepts to read: those that are listed, and those that are recorded."""
        return max(LOOKED_AT * self.concepts, MOST_RECALLED)

    def terms(self, view: GraphView, question: Extraction, text: str) -> QueryTerms:
        """Find what a question means to a graph, and to the conversation that it goes on from."""
        goes_on = self.session is not None and continuation(text) is not None
        weak = keywords(view, self.in_mind(view).tolist()) if goes_on else []
        weak += [number for name in self.weak if (number := view.number(name)) is not None]
        return find_query_terms(view, question, text, self.asker, weak)

    def in_mind(self, view: GraphView) -> Integers:
        """List what is in mind of the conversation that is gone on with."""
        return np.zeros(0, np.int64) if self.session is None else in_mind(view, self.session, self.now)


class Ranked(NamedTuple):
    """A passage number and its score; the score of the default mode may be negative, its order is what counts."""

    number: int
    score: float


# Of hundreds that are ranked, a few are shown: a tuple is one at once, where its class takes its parts one by one.
_RANKED: Final[Callable[[tuple[int, float]], Ranked]] = partial(tuple.__new__, Ranked)


@dataclass(frozen=True)
class RecallResult:
    """The result of a recall.

    seeds     where energy was put in, in the order of the question's concepts, then its marks and its speakers
    concepts  the most active concepts, seeds among them, marks not; by energy descending, then number
    passages  by score descending, of equal scores the newer first
    woken     how many nodes hold energy, seeds included
    clamped   whether an energy was cut off at activation.CEILING
    depth     how many passages the question needs (processors/text/questions/answer_kinds.py)
    recalled  ids that a reinforcing query records: the seeds, then of the MOST_RECALLED most active concepts those with
              more energy than RECALLED_ABOVE
    stages    what was done, one after the other, in modes that tell
    terms     passage number → what its score is made of, in modes that tell
    topics    passage number → the concept through which it was found, in modes that go by concepts
    activation  what the spreading left behind
    meant       what the question means to the graph, in modes that are asked in one round
    evidence    what the graph holds of the question (ranking/evidence.py), None in modes that do not count it
    pronouns    passage number → what its pronouns add to its score (ranking/pronouns.py)
    closer      passage number → what a closer look adds to its score (answer/closer_look.py)
    """

    seeds: tuple[ActivatedConcept, ...]
    concepts: tuple[ActivatedConcept, ...]
    passages: tuple[Ranked, ...]
    woken: int
    clamped: bool
    depth: int = 0
    recalled: tuple[str, ...] = ()
    stages: tuple[Stage, ...] = ()
    terms: Mapping[int, Mapping[str, float]] = field(default_factory=dict)
    topics: Mapping[int, int] = field(default_factory=dict)
    activation: Activation | None = field(default=None, compare=False, repr=False)
    meant: QueryTerms | None = field(default=None, compare=False, repr=False)
    evidence: Floats | None = field(default=None, compare=False, repr=False)
    pronouns: Mapping[int, float] = field(default_factory=dict)
    closer: Mapping[int, float] = field(default_factory=dict)


def ranked(passages: Integers, scores: Floats) -> tuple[Ranked, ...]:
    """List passages (k,) with their scores (k,)."""
    made = map(_RANKED, zip(passages.tolist(), scores.tolist(), strict=True))
    return tuple(made)


NOTHING = RecallResult(seeds=(), concepts=(), passages=(), woken=0, clamped=False)


def recall(
    view: GraphView, question: Extraction, text: str, options: RecallOptions, cosine: Floats | None = None
) -> RecallResult:
    """Recall from `view` the passages that answer the question `text` with the extraction `question`, in default mode.

    cosine  (p,) of each passage with the question, if there are embeddings

    The result is empty for a greeting, and for a question whose words and related words the graph does not know.
    """
    if greets(clean(text)):
        return NOTHING
    meant = options.terms(view, question, text)
    seeds = seeds_of(view, meant)
    if not len(seeds) and not len(meant.relatives.concept) and cosine is None:
        return NOTHING
    activation = activate(view, seeds, options.spreading)
    awake = np.flatnonzero(activation.energy > 0)
    words = awake[~view.marks(awake)]
    strongest = strongest_of(activation, words, options.looked_at)
    needed = needs(text, meant, options)
    limit = needed if options.passages is None else options.passages
    allowed = Allowed(view, options.only)
    if options.kind.depth is not None:
        needed = options.kind.depth
    inquiry = Inquiry(view, meant, activation.energy, cosine)
    if options.kind.in_mind:
        passages = _of_mind(view, meant, options, allowed, limit)
    else:
        best = best_turns(inquiry, options.weights, allowed, limit, few=options.few, kind=options.kind)
        passages = succeeded(inquiry, best, allowed, options.weights, limit)
    return RecallResult(
        seeds=described(view, activation, seeds),
        concepts=shown(view, activation, strongest, options),
        passages=ranked(*passages),
        woken=len(awake),
        clamped=activation.clamped,
        depth=needed,
        recalled=recalled(view, seeds, strongest[:MOST_RECALLED], activation.energy),
        activation=activation,
        meant=meant,
        evidence=find_evidence(inquiry, question, text, view.turns),
    )


def needs(text: str, meant: QueryTerms, options: RecallOptions) -> int:
    """Return how many passages a question needs, 3 to 20: as deep as it is asked, or as its words tell."""
    if options.depth is not None:
        return complexity.passages(options.depth)
    return depth(text, len(meant.words), len(meant.named))


def strongest_of(activation: Activation, words: Integers, limit: int) -> Integers:
    """Find the `limit` of ascending `words` that hold most energy."""
    energy = activation.energy[words]
    return words[highest(energy, energy > 0, limit)]


def _of_mind(
    view: GraphView, meant: QueryTerms, options: RecallOptions, allowed: Allowed, limit: int
) -> tuple[Integers, Floats]:
    """Rank what is in mind of a conversation and holds something of what is asked."""
    turns = options.in_mind(view)
    turns = turns[allowed.passes(turns)]
    scores = weighed(view, meant, turns, options.now).scores
    order = np.lexsort((-turns, -scores))
    order = order[scores[order] > 0][:limit]
    return turns[order], scores[order]


def latest_of(view: GraphView, session: str, options: RecallOptions, limit: int) -> tuple[Ranked, ...]:
    """List the last turns of a conversation that a filter lets through, the newest first: what "and then?" asks for.

    Those in mind; of a conversation that fell silent, its last ones all the same.  Each scores what its age leaves.
    """
    allowed = Allowed(view, options.only)
    for turns in (in_mind(view, session, options.now), going_on(view, session)):
        passing = turns[allowed.passes(turns)][::-1][:limit]
        if len(passing):
            scores = decay(view, passing, options.now)
            return ranked(passing, scores)
    return ()


def by_token(view: GraphView, passages: Sequence[Ranked], mode: Mode, density: float = DENSITY) -> list[Ranked]:
    """Order passages, best first, as a context takes them: by what they answer for each token, if scores tell that."""
    if mode != "default" or not passages:
        return list(passages)
    numbers, scores = np.array([each.number for each in passages]), np.array([each.score for each in passages])
    order = np.argsort(-per_token(scores, view.of_turns("tokens", numbers), density), kind="stable")
    return [passages[place] for place in order.tolist()]


def recent(view: GraphView, only: Filter, limit: int) -> tuple[Ranked, ...]:
    """List the latest passages that a filter lets through, the newest first; nothing ranks them, so each scores 0."""
    passages = np.arange(view.turns)
    passages = passages[Allowed(view, only).passes(passages)]
    order = np.lexsort((-passages, -view.of_turns("at", passages)))[:limit]
    return tuple(Ranked(number, 0.0) for number in passages[order].tolist())


def worth_showing(passages: Sequence[Ranked], mode: Mode, drop: float = DROP, even: float = EVEN) -> Sequence[Ranked]:
    """Leave out of passages, best first, those from which scores have dropped: a budget is an upper bound.

    A passage is left out if it is less than e^−drop times as likely to answer as the third best, or if the passages
    before it have MASS of the total likelihood already; a drop above the default keeps more.  Scores of other modes
    have no such meaning.
    """
    if mode != "default" or len(passages) <= LEAST_DEPTH:
        return passages
    least = passages[LEAST_DEPTH - 1].score - drop
    shown = [each for each in passages if each.score >= least]
    return shown[: _promising(shown, even)] if drop <= DROP else shown


def _promising(passages: Sequence[Ranked], even: float) -> int:
    """Count how many of passages, best first, hold MASS of what all promise together; LEAST_DEPTH at least."""
    scores = np.array([each.score for each in passages])
    promised = np.cumsum(np.exp((scores - scores[0]) / even))
    return max(LEAST_DEPTH, int(np.searchsorted(promised, MASS * promised[-1])) + 1)


def recalled(view: GraphView, seeds: Integers, strongest: Integers, energy: Floats) -> tuple[str, ...]:
    """Return the ids of the concepts that a reinforcing query records: seeds first, each concept once."""
    numbers = [*seeds.tolist(), *strongest[energy[strongest] > RECALLED_ABOVE].tolist()]
    return tuple(view.ids[number] for number in dict.fromkeys(numbers))


def seeds_of(view: GraphView, meant: QueryTerms) -> Integers:
    """Return the seeds (k,): the question's concepts.  Its kind of answer affects only the ranking."""
    return meant.seeds


def activate(view: GraphView, seeds: Integers, how: SpreadingParameters) -> Activation:
    """Spread energy from `seeds` over associations, links of recall and links by topic."""
    return spread(seeds, view.concepts, associations(view, how), how)


def highest(values: Floats, among: Mask, limit: int) -> Integers:
    """Find the positions of the `limit` highest values `among` these, highest first, ties by position."""
    candidates = np.flatnonzero(among)
    if 0 < limit < len(candidates):
        # Everything that could still tie with the last place stays in, so that ties fall by position alone.
        last = np.partition(values[candidates], -limit)[-limit]
        candidates = candidates[values[candidates] >= last]
    return candidates[(-values[candidates]).argsort(kind="stable")][:limit]


def shown(
    view: GraphView, activation: Activation, strongest: Integers, options: RecallOptions
) -> tuple[ActivatedConcept, ...]:
    """Describe those of the strongest words (k,), the strongest first, that people would say."""
    looked_at = strongest[: LOOKED_AT * options.concepts]
    listed = islice(Shown(view.concept_table).labels(looked_at.tolist()), options.concepts)
    return tuple(_concept(view, activation, number, label) for number, label in listed)


def described(view: GraphView, activation: Activation, numbers: Integers) -> tuple[ActivatedConcept, ...]:
    """Describe concepts, in their order."""
    return tuple(_concept(view, activation, number, view.labels[number]) for number in numbers.tolist())


def _concept(view: GraphView, activation: Activation, number: int, label: str) -> ActivatedConcept:
    path = [view.ids[node] for node in activation.path(number)]
    return ActivatedConcept(id=view.ids[number], label=label, energy=float(activation.energy[number]), path=path)
