"""Claim + chain: the rules one by one, what the next event must carry, and the bytes of a head."""

from __future__ import annotations

import hashlib

import orjson
import pytest
from hypothesis import given

from state.errors import LogRewrittenError, WrongLayoutError
from state.events.events import UNSTAMPED, AnyEvent, Claim, DataEvent, Stamp, TurnRecorded, decode, encode
from state.log_position import Acceptance, LogPosition, stamp
from tests.support.builders import turn_recorded
from tests.support.logs import LogWriter, unmoved
from tests.support.strategies import Step, steps


def after(log: LogWriter) -> LogPosition:
    return log.folded().position


def judge(head: LogPosition, event: AnyEvent, offset: int | None = None) -> tuple[LogPosition, Acceptance]:
    return head.after(head.watermark + 1 if offset is None else offset, event, encode(event))


def next_turn(log: LogWriter, **changes: object) -> TurnRecorded:
    """Return the turn that an honest owner of `log` would append next, with `changes`."""
    return turn_recorded(**{"id": "next", **log.link, "src": log.source + 1, **changes})


@pytest.fixture
def log() -> LogWriter:
    """A log with a claim and two turns."""
    log = LogWriter()
    log.turn()
    log.turn()
    return log


# The rules


def test_an_empty_log_has_no_owner() -> None:
    assert (LogPosition().watermark, LogPosition().epoch, LogPosition().source, LogPosition().seq) == (-1, -1, -1, 0)
    assert judge(LogPosition(), turn_recorded())[1] is Acceptance.FENCED


def test_the_offset_of_a_claim_is_the_epoch(log: LogWriter) -> None:
    claim = Claim(writer="b", partitions=4, nonce="n")
    head, acceptance = judge(after(log), claim, offset=77)
    assert acceptance is Acceptance.ACCEPTED
    assert head.claim == head.last == hashlib.sha256(encode(claim)).hexdigest()[:8]
    assert (head.epoch, head.watermark, head.partitions) == (77, 77, 4)
    assert (head.seq, head.source) == (2, 1), "the position in `turns` is handed over"


def test_the_next_event_of_the_owner_is_accepted(log: LogWriter) -> None:
    head, acceptance = judge(after(log), next_turn(log))
    assert acceptance is Acceptance.ACCEPTED
    assert (head.seq, head.source, head.watermark) == (3, 2, 3)
    assert (head.epoch, head.claim) == (log.epoch, log.claimed)
    assert head.last == hashlib.sha256(encode(next_turn(log))).hexdigest()[:8]


def test_an_event_of_an_older_claim_is_fenced(log: LogWriter) -> None:
    late = next_turn(log)
    log.claim("another worker")
    head, acceptance = judge(after(log), late)
    assert acceptance is Acceptance.FENCED
    assert head == unmoved(after(log), 4, encode(late))


@pytest.mark.parametrize("changes", [{"seq": 2}, {"seq": 4}, {"seq": 0}, {"src": 1}, {"src": 0}], ids=str)
def test_an_event_that_is_not_the_next_one_is_a_gap(log: LogWriter, changes: dict[str, int]) -> None:
    head, acceptance = judge(after(log), next_turn(log, **changes))
    assert acceptance is Acceptance.GAP
    assert head == unmoved(after(log), 3, encode(next_turn(log, **changes)))


def test_a_source_may_be_skipped_since_topics_have_offsets_without_records(log: LogWriter) -> None:
    assert judge(after(log), next_turn(log, src=9))[0].source == 9


def test_an_event_without_a_source_keeps_the_source(log: LogWriter) -> None:
    log.recall()
    assert (after(log).seq, after(log).source) == (3, 1)


def test_all_kinds_share_one_chain(log: LogWriter) -> None:
    for append in (log.recall, log.reject, log.duplicate, log.turn, log.claim, log.turn):
        append()
    assert (after(log).seq, after(log).source, after(log).link) == (7, 5, log.link)


def test_an_event_that_follows_another_history_stops_the_fold(log: LogWriter) -> None:
    with pytest.raises(LogRewrittenError, match="If the log is right, remove this partition's store and start again"):
        judge(after(log), next_turn(log, chain="0" * 16))


def test_another_history_is_noticed_by_its_claims_alone() -> None:
    ours, theirs = LogWriter(claimed=False), LogWriter(claimed=False)
    for log, first in ((ours, "a"), (theirs, "b")):
        log.claim(first)
        log.claim("the very same")
    assert ours.claimed == theirs.claimed
    with pytest.raises(LogRewrittenError):
        judge(after(ours), next_turn(theirs))


def test_a_reader_that_goes_back_stops_the_fold(log: LogWriter) -> None:
    for offset in (0, after(log).watermark):
        with pytest.raises(LogRewrittenError, match=f"offset {offset} was folded before"):
            judge(after(log), next_turn(log), offset=offset)


def test_offsets_may_have_gaps(log: LogWriter) -> None:
    assert judge(after(log), next_turn(log), offset=1000)[0].watermark == 1000


def test_another_number_of_partitions_stops_the_fold(log: LogWriter) -> None:
    with pytest.raises(WrongLayoutError, match=r"had 4 partitions and now has 8\. .*new prefix"):
        judge(after(log), Claim(writer="b", partitions=8, nonce="n"))


def test_a_claim_that_was_written_twice_fences_its_own_writer(log: LogWriter) -> None:
    """The writer holds the first for its epoch; it sees that, exits, and its successor goes on."""
    ours = log.claim("b")
    turn = next_turn(log)
    log.append(log.records[-1][1])
    assert turn.epoch == ours
    assert turn.claim == after(log).claim, "it is the offset that tells the two apart"
    assert judge(after(log), turn)[1] is Acceptance.FENCED


@pytest.mark.parametrize("zombie", [{"writer": "another"}, {"writer": "successor", "nonce": "another"}], ids=str)
def test_a_zombie_whose_lost_claim_lay_where_another_lies_now_is_fenced(zombie: dict[str, str]) -> None:
    """Only where acknowledged records can be lost (acks=1).  Were it not, every refold would stop at its next event."""
    log, lost = LogWriter(), LogWriter()
    lost.claim(**zombie)
    log.claim("successor")
    assert lost.epoch == log.epoch
    for late in (next_turn(lost), next_turn(lost, chain=log.link["chain"]), next_turn(lost, seq=2)):
        head, acceptance = judge(after(log), late)
        assert acceptance is Acceptance.FENCED
        assert head == unmoved(after(log), 2, encode(late))
        assert judge(head, next_turn(log))[1] is Acceptance.ACCEPTED, "the owner goes on"


# What the next event must carry


def test_the_link_of_an_empty_log_is_accepted_by_nobody() -> None:
    """No event can have epoch -1: there is no owner before the first claim."""
    assert LogPosition().link == {"epoch": -1, "claim": "", "seq": 1, "chain": "0" * 16}
    with pytest.raises(ValueError, match="epoch"):
        encode(turn_recorded(**LogPosition().link))


def test_a_link_is_what_every_event_carries_beside_its_facts(log: LogWriter) -> None:
    assert set(after(log).link) == set(DataEvent.__struct_fields__) - {"v"} == set(Stamp.__annotations__)


def test_an_event_that_is_not_stamped_can_never_be_encoded() -> None:
    with pytest.raises(ValueError, match="a TurnRecorded without an epoch: it must be stamped first"):
        encode(turn_recorded(**UNSTAMPED))


def test_a_stamped_event_is_the_next_one_that_a_fold_accepts(log: LogWriter) -> None:
    unstamped = turn_recorded(id="next", src=log.source + 1, **UNSTAMPED)
    event = stamp(unstamped, after(log))
    assert event == next_turn(log), "its facts stay, and it carries the link"
    head, acceptance = judge(after(log), event)
    assert acceptance is Acceptance.ACCEPTED
    assert judge(head, event)[1] is Acceptance.GAP, "at one place only"


def test_a_position_behind_an_accepted_event_goes_on_as_one_that_read_the_log_from_its_beginning(
    log: LogWriter,
) -> None:
    last, value = log.records[-1]
    event = decode(value)
    assert isinstance(event, TurnRecorded)
    stale = log.link
    log.claim("another worker")
    log.append(encode(turn_recorded(**stale, src=9)))
    log.turn()
    whole, resumed = after(log), LogPosition.behind(last, event)
    acceptances = []
    for offset, record in log.records[2 + 1 :]:
        resumed, acceptance = resumed.after(offset, decode(record), record)
        acceptances.append(acceptance)
    assert acceptances == [Acceptance.ACCEPTED, Acceptance.FENCED, Acceptance.ACCEPTED]
    assert (resumed.epoch, resumed.claim, resumed.seq) == (whole.epoch, whole.claim, whole.seq)


def test_a_link_computed_by_hand() -> None:
    log = LogWriter()
    log.turn()
    (_, claim), (_, turn) = log.records
    rolled = hashlib.sha256(hashlib.sha256(bytes(32) + claim).digest() + turn).hexdigest()
    named = hashlib.sha256(claim).hexdigest()
    assert after(log).link == {"epoch": 0, "claim": named[:8], "seq": 2, "chain": rolled[:16]}


@pytest.mark.parametrize("append", ["turn", "recall", "duplicate", "reject", "claim"])
def test_every_accepted_record_changes_the_link(log: LogWriter, append: str) -> None:
    before = after(log).link
    getattr(log, append)()
    changed = {name for name, value in after(log).link.items() if value != before[name]}
    assert changed == ({"epoch", "claim", "chain"} if append == "claim" else {"seq", "chain"})


@pytest.mark.parametrize("changes", [{"epoch": 9}, {"claim": "?"}, {"seq": 9}, {"src": 0}], ids=str)
def test_a_record_that_is_not_accepted_leaves_the_link(log: LogWriter, changes: dict[str, object]) -> None:
    head, acceptance = judge(after(log), next_turn(log, **changes))
    assert acceptance is not Acceptance.ACCEPTED
    assert head.link == after(log).link
    assert judge(head, next_turn(log))[1] is Acceptance.ACCEPTED


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        ({"epoch": 9, "seq": 9, "chain": "?"}, Acceptance.FENCED),
        ({"claim": "?", "seq": 9, "chain": "?"}, Acceptance.FENCED),
        ({"seq": 9, "chain": "?"}, Acceptance.GAP),
        ({"src": 0, "chain": "?"}, Acceptance.GAP),
    ],
    ids=str,
)
def test_who_wrote_it_is_asked_before_whether_it_is_next_and_that_before_the_history(
    log: LogWriter, changes: dict[str, object], outcome: Acceptance
) -> None:
    assert judge(after(log), next_turn(log, **changes))[1] is outcome


@given(steps())
def test_what_carries_the_link_is_accepted_wherever_the_log_stands(happened: list[Step]) -> None:
    log = LogWriter()
    for step in [*happened, ("claim", {})]:
        head = after(log)
        assert head.link == log.link
        assert judge(head, turn_recorded(**head.link, src=head.source + 1))[1] is Acceptance.ACCEPTED
        getattr(log, step[0])(**step[1])


# The head's bytes


def test_a_head_is_read_back_as_it_was(log: LogWriter) -> None:
    assert LogPosition.of_bytes(after(log).to_bytes()) == after(log)
    assert LogPosition.of_bytes(LogPosition().to_bytes()) == LogPosition()


@pytest.mark.parametrize("change", [lambda fields: fields.update(new=1), lambda fields: fields.pop("seq")])
def test_a_head_with_other_fields_is_of_another_version(log: LogWriter, change: object) -> None:
    fields = orjson.loads(after(log).to_bytes())
    change(fields)  # type: ignore[operator]
    with pytest.raises(WrongLayoutError, match="another version of EMGAS"):
        LogPosition.of_bytes(orjson.dumps(fields))
