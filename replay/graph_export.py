"""A graph as others' tools read it: a networkx graph, and the files that networkx writes.

    concept   node, named by the concept's id      kind label strength mentions long_term mark created accessed topic
    passage   node, "turn:<turn id>", if wanted    kind session speaker role at tokens
    cooccurs  edge between two concepts            kind count ppmi weight
    holds     edge from a passage to a concept     kind count

    strength  base activation at the graph's clock, >= 0          created, accessed, at   ms since 1970, UTC
    count     turns that held both; of `holds`, times in the turn ppmi                    nats, >= 0
    weight    ppmi over the root of both fans: what activation spreads by (processors/association.py)
    topic     what the theme that the concept belongs to is called: its strongest concepts that are left; left out
              without one, as is a role that was not given

The texts of turns are not part of a graph: a backup has them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import IO, Any, Final

import networkx as nx  # type: ignore[import-untyped]
import numpy as np
import orjson

from processors.association import edges_out
from processors.text.shown import Shown
from state.graph.graph import Graph
from state.graph.graph_tables import Window
from state.graph.view import GraphView

# What XML 1.0 cannot hold, even escaped: a concept's surface form comes from any text.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
WINDOW: Final[Window] = "turn"  # in which what is said counts as said together


def to_networkx(graph: Graph, *, passages: bool = False) -> nx.Graph[str]:
    """Convert a graph into a networkx graph, with its passages if wanted; see the module's docstring."""
    view = graph.view()
    made: nx.Graph[str] = nx.Graph(name=view.graph_id, clock=view.clock, preset=graph.preset, window=WINDOW)
    _add_concepts(made, graph, view)
    _add_edges(made, view)
    if passages:
        _add_passages(made, view)
    return made


def _add_concepts(made: nx.Graph[str], graph: Graph, view: GraphView) -> None:
    shown = Shown(view.concept_table)
    themes = {number: shown.title(theme.members) for theme in view.themes for number in theme.members}
    for number, name in enumerate(view.ids):
        made.add_node(
            name,
            kind="concept",
            label=view.labels[number],
            strength=float(
                graph.concepts.strength_of(number, max(view.clock, int(view.strength_at[number])), view.settings)
            ),
            mentions=int(graph.concepts.in_turns[number]),
            long_term=bool(graph.concepts.long_term[number]),
            mark=bool(view.is_mark[number]),
            created=int(view.created[number]),
            accessed=int(view.accessed[number]),
            **({"topic": themes[number]} if number in themes else {}),
        )


def _add_edges(made: nx.Graph[str], view: GraphView) -> None:
    counts = view.windows[WINDOW]
    concepts = np.arange(len(view.ids))
    _, _, together = counts.pairs.neighbours(concepts)
    plain, fanned = (edges_out(counts, concepts, weighting) for weighting in ("ppmi", "fan"))
    columns = (plain.source, plain.target, together, plain.weight, fanned.weight)
    for source, target, count, ppmi, weight in zip(*(column.tolist() for column in columns), strict=True):
        if source < target:
            made.add_edge(view.ids[source], view.ids[target], kind="cooccurs", count=count, ppmi=ppmi, weight=weight)


def _add_passages(made: nx.Graph[str], view: GraphView) -> None:
    names = [f"turn:{turn}" for turn in view.passage_id]
    for number, name in enumerate(names):
        role = view.passage_role[number]
        made.add_node(
            name,
            kind="passage",
            session=view.sessions[view.passage_session[number]],
            speaker=view.speakers[view.passage_speaker[number]],
            at=int(view.passage_at[number]),
            tokens=int(view.passage_tokens[number]),
            **({"role": role} if role else {}),
        )
    columns = (view.posting_passage, view.posting_concept, view.posting_count)
    for passage, concept, count in zip(*(column.tolist() for column in columns), strict=True):
        made.add_edge(names[passage], view.ids[concept], kind="holds", count=count)


def _graphml(made: nx.Graph[str], file: IO[bytes]) -> None:
    nx.write_graphml(_for_xml(made), file)


def _gexf(made: nx.Graph[str], file: IO[bytes]) -> None:
    nx.write_gexf(_for_xml(made), file)


def _json(made: nx.Graph[str], file: IO[bytes]) -> None:
    file.write(orjson.dumps(nx.node_link_data(made, edges="edges"), option=orjson.OPT_INDENT_2))


WRITERS: dict[str, Callable[[nx.Graph[str], IO[bytes]], None]] = {"graphml": _graphml, "gexf": _gexf, "json": _json}


def _for_xml(made: nx.Graph[str]) -> nx.Graph[str]:
    """Copy a graph so that every text can stand in XML."""
    copy: nx.Graph[str] = nx.relabel_nodes(made, {name: _clean(name) for name in made})
    for attributes in (copy.graph, *copy.nodes.values(), *copy.edges.values()):
        attributes.update({name: _clean(value) for name, value in attributes.items()})
    return copy


def _clean(value: Any) -> Any:
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", value) if isinstance(value, str) else value
