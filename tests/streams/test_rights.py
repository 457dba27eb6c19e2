"""Rights: what a subject may do by its grants and through its door; no command gives its sender more than it had."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emgas.messages.turns import Undo
from emgas.wire import RIGHTS, SUBJECT, Record
from lab.catalogue import GATES
from state.events.base import GraphEvent
from state.events.events import Retracted, SubjectErased, encode
from state.graph.graph import Graph
from state.log_position import Acceptance, stamp
from state.partition import Partition
from state.sealing.graph_key import ID_BYTES, SECRET_BYTES, GraphKey
from state.sealing.keyring import HeldKeys, sealed
from state.store.store import MemoryStore
from streams.ingest.command_handler import CommandHandler
from streams.ingest.turns import Decision
from streams.ingest.verbs.deciding import HandlerContext
from streams.ingest.verbs.rights import holds
from tests.support.clocks import NOW
from tests.support.command_handlers import HERE, PARTITIONS, SKEW, decide
from tests.support.fakes import OneConcept, arrival
from tests.support.logs import LogWriter
from tests.verbs import COMMAND_VERBS

ALL = ("read", "write", "forget", "admin")
Sender = tuple[str | None, tuple[str, ...] | None]  # subject, and the rights that its door lets through
OPERATOR: Sender = (None, None)


class Team:
    """The graph "ada", a handler of its commands, and a fold of what they become."""

    def __init__(self, *, encrypted: bool = False) -> None:
        self.keys = HeldKeys()
        if encrypted:
            secret = bytes(SECRET_BYTES)
            self.keys.hold(GraphKey.born("ada", bytes(ID_BYTES), secret, secret))
        self.state = Partition(MemoryStore(), graph_keys=self.keys)
        for offset, value in LogWriter(partitions=PARTITIONS).records:
            self.state.fold(offset, value)
        context = HandlerContext(
            gate=GATES.__getitem__,
            partitions=PARTITIONS,
            extractor=OneConcept(),
            skew_ms=SKEW,
            preset="default",
            now=lambda: NOW,
            keys=self.keys,
        )
        self.handler = CommandHandler(self.state, HERE, context)

    @property
    def graph(self) -> Graph | None:
        return self.state.graph("ada")

    @property
    def access(self) -> dict[str, list[str]]:
        return {} if self.graph is None else {name: list(rights) for name, rights in self.graph.access.items()}

    def send(self, sender: Sender, kind: str, **fields: Any) -> Decision:
        """Decide one command, and fold what it becomes."""
        offset = self.state.position.source + 1
        message = {"kind": kind, "id": f"c{offset}", "graph": "ada", **fields}
        if kind == "turn":
            del message["kind"]
        record = self.record(sender, json.dumps(message).encode(), offset)
        decision = decide(self.handler, record)
        for event in decision.events:
            self._fold(event)
        self.handler.folded()
        return decision

    def record(self, sender: Sender, value: bytes = b"", offset: int = 0) -> Record:
        subject, door = sender
        record = arrival(value, offset=offset)
        named = () if subject is None else ((SUBJECT, subject.encode()),)
        through = () if door is None else ((RIGHTS, ",".join(door).encode()),)
        return record._replace(headers=(*named, *through))

    def counted_from_the_newest(self, back: dict[str, int]) -> dict[str, int]:
        newest = self.graph.events - 1 if self.graph else 0
        return {name: max(0, newest - count) for name, count in back.items()}

    def rights(self, sender: Sender) -> set[str]:
        return {right for right in ALL if holds(right, self.record(sender), self.graph)}  # type: ignore[arg-type]

    def _fold(self, event: Any) -> None:
        position = self.state.position
        stamped = stamp(event, position)
        key = self.keys.of("ada").get(bytes(ID_BYTES).hex())
        if key is not None and isinstance(event, GraphEvent) and not (isinstance(event, SubjectErased) and event.whole):
            stamped = sealed(stamped, key, self.graph.events if self.graph else 0)
        folded = self.state.fold(position.watermark + 1, encode(stamped))
        assert folded.acceptance is Acceptance.ACCEPTED


def a_team() -> Team:
    """Return a graph in which Ada spoke, Flo may forget, and Wim might write until that was revoked."""
    team = Team()
    team.send(OPERATOR, "turn", speaker="Ada", text="The kettle broke.")
    team.send(OPERATOR, "grant", subject="flo", rights=["forget"])
    team.send(OPERATOR, "grant", subject="wim", rights=["write", "forget"])
    team.send(OPERATOR, "revoke", subject="wim", rights=["write"])
    return team


FLO: Sender = ("flo", None)
WIM: Sender = ("wim", None)
BORN, TURN, GRANTED, GRANTED_WIM, REVOKED = range(5)  # ordinals


@pytest.mark.parametrize(
    ("first", "last"),
    [(REVOKED, REVOKED), (GRANTED, GRANTED), (GRANTED, REVOKED), (BORN, BORN), (TURN, None), (BORN, TURN)],
    ids=["a revocation", "a grant", "all of them", "how it lives", "a turn and what follows", "a turn and its birth"],
)
def test_who_may_only_forget_undoes_no_rights_and_no_settings(first: int, last: int | None) -> None:
    team = a_team()
    before = team.access
    for sender in (FLO, WIM):
        decision = team.send(sender, "undo", first=first, last=last)
        assert decision.status == "rejected"
        assert decision.reason is not None
        assert "needs the right to admin" in decision.reason
        assert team.access == before
    assert team.rights(("stranger", None)) == set(), "the graph stays closed"


def test_an_undo_of_turns_needs_no_more_than_to_forget() -> None:
    team = a_team()
    assert team.send(FLO, "undo", first=TURN, last=TURN).status == "accepted"
    undone = REVOKED + 1
    assert team.send(FLO, "undo", first=undone, last=undone).status == "accepted", "and it can be undone likewise"


def test_an_undo_of_an_undo_is_judged_by_what_counts_again() -> None:
    team = a_team()
    assert team.send(OPERATOR, "undo", first=GRANTED_WIM, last=REVOKED).status == "accepted"
    assert team.access == {"flo": ["forget"]}
    undone = REVOKED + 1
    decision = team.send(FLO, "undo", first=undone, last=undone)
    assert (decision.status, team.access) == ("rejected", {"flo": ["forget"]})
    assert team.send(OPERATOR, "undo", first=undone, last=undone).status == "accepted"
    assert team.access == {"flo": ["forget"], "wim": ["forget"]}
    again = undone + 1
    decision = team.send(FLO, "undo", first=again, last=again)
    assert (decision.status, team.access) == ("rejected", {"flo": ["forget"], "wim": ["forget"]})


def test_who_may_admin_undoes_a_grant_and_a_revocation() -> None:
    team = a_team()
    team.send(OPERATOR, "grant", subject="amy", rights=["admin", "forget"])
    assert team.send(("amy", None), "undo", first=REVOKED, last=REVOKED).status == "accepted"
    assert team.access["wim"] == ["forget", "write"]


def test_a_door_that_lets_less_through_than_the_graph_grants_is_obeyed() -> None:
    team = a_team()
    team.send(OPERATOR, "grant", subject="amy", rights=["admin", "forget"])
    through_door: Sender = ("amy", ("read", "forget"))
    assert team.send(through_door, "undo", first=REVOKED, last=REVOKED).status == "rejected"
    assert team.send(through_door, "grant", subject="amy", rights=["write"]).status == "rejected"
    open_to_all = Team()
    open_to_all.send(OPERATOR, "turn", speaker="Ada", text="The kettle broke.")
    open_to_all.send(OPERATOR, "configure", preset="elephant")
    assert open_to_all.send(("key", ("forget",)), "undo", first=2, last=2).status == "rejected", "nothing is granted"
    assert open_to_all.send(("key", ALL), "undo", first=2, last=2).status == "accepted"


_subjects = st.sampled_from(["amy", "ben", "cleo"])
_rights = st.lists(st.sampled_from(ALL), min_size=1, max_size=4, unique=True)
_doors = st.none() | _rights.map(tuple)
_back = st.integers(0, 5)  # events from the newest one
_named = st.fixed_dictionaries({"concepts": st.just(["kettle"]), "turns": st.just(["c0"])})
_erased = st.sampled_from([{"whole": True}, {"turn": "c0"}, {"speaker": "Ada"}])
_access = st.fixed_dictionaries({"subject": _subjects, "rights": _rights})
_of_table = [(verb.message.tag(), dict(verb.fields)) for verb in COMMAND_VERBS if verb.message is not Undo]
_commands = st.one_of(
    st.sampled_from(_of_table),
    st.tuples(st.just("turn"), st.sampled_from([{"speaker": "Ada", "text": "The kettle broke.", "at": NOW}])),
    st.tuples(
        st.just("configure"),
        st.sampled_from(
            [{"preset": "elephant"}, {"settings": {"recording": False}}, {"settings": {"undo_events": 2}}],
        ),
    ),
    st.tuples(st.just("forget"), _named | st.just({"everything": True})),
    st.tuples(st.sampled_from(["pin", "unpin"]), _named),
    st.tuples(st.just("feedback"), st.just({"turns": ["c0"], "value": 1})),
    st.tuples(st.just("erase"), _erased),
    st.tuples(st.just("endsession"), st.just({})),
    st.tuples(st.sampled_from(["grant", "revoke"]), _access),
    st.tuples(st.just("reinforce"), st.just({"concepts": ["kettle"], "at": NOW})),
    st.tuples(st.just("advice"), st.just({"by": "amy", "judged": {"turn": "c0", "worth": 0.9}})),
)
_undos = st.tuples(st.just("undo"), st.tuples(_back, _back).map(lambda back: {"first": max(back), "last": min(back)}))
_senders = st.tuples(_subjects, _doors) | st.just(OPERATOR)


@settings(max_examples=200, deadline=None)
@given(
    encrypted=st.booleans(),
    granted=st.lists(st.tuples(st.sampled_from(["grant", "grant", "revoke"]), _access), max_size=5),
    steps=st.lists(st.tuples(_senders, _commands | _undos), min_size=1, max_size=14),
)
def test_no_sequence_of_commands_increases_the_senders_rights(
    encrypted: bool,
    granted: list[tuple[str, dict[str, Any]]],
    steps: list[tuple[Sender, tuple[str, dict[str, Any]]]],
) -> None:
    """Nobody's rights change by what one sends who has no right to admin; one who has it stays behind his door."""
    team = Team(encrypted=encrypted)
    team.send(OPERATOR, "turn", speaker="Ada", text="The kettle broke.")
    for kind, fields in granted:
        team.send(OPERATOR, kind, **fields)
    for sender, (kind, request) in steps:
        had, access = team.rights(sender), team.access
        fields = team.counted_from_the_newest(request) if kind == "undo" else request
        is_accepted = team.send(sender, kind, **fields).status == "accepted"
        has = team.rights(sender)
        if sender == OPERATOR:
            continue
        if not is_accepted or "admin" not in had:
            assert has <= had, (kind, fields)
            assert team.access == access, (kind, fields)
        elif kind in ("grant", "revoke", "undo", "erase"):  # what an admin may change rights by
            assert has <= set(sender[1] or ALL)
        else:
            assert (has, team.access) == (had, access), (kind, fields)


def test_every_kind_of_command_is_among_the_random_ones() -> None:
    team = Team(encrypted=True)
    team.send(OPERATOR, "turn", speaker="Ada", text="The kettle broke.")
    for kind, fields in (("grant", {"subject": "amy", "rights": ["read"]}), ("undo", {"first": 2, "last": 2})):
        assert team.send(OPERATOR, kind, **fields).status == "accepted"
    assert isinstance(team.send(OPERATOR, "undo", first=3).events[-1], Retracted)
    assert team.send(OPERATOR, "erase", whole=True).status == "accepted"
    assert team.access == {}


def test_a_turn_that_is_erased_twice_is_a_duplicate_the_second_time() -> None:
    team = Team(encrypted=True)
    team.send(OPERATOR, "turn", speaker="Ada", text="The kettle broke.")
    decisions = [team.send(OPERATOR, "erase", turn="c0") for _ in range(2)]
    assert [decision.status for decision in decisions] == ["accepted", "duplicate"]
    assert "already erased" in (decisions[1].reason or "")
