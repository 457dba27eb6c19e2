"""`emgas replay verify`: compare the live state with a fold of the log; report which graph differs, from which event.

A partition that no worker has begun to fold is not compared, and never counts as equal.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

import typer
from rich.markup import escape

from emgas.errors import EmgasError, HaltedError
from emgas.times import format_utc
from streams.cli.shared import output

if TYPE_CHECKING:
    from replay.log import LogReader
    from replay.verify.divergence import Divergence
    from replay.verify.verify import Verification
    from streams.cli.shared.live_state import Live

SHOWN = 5  # graphs, and differences of one


@dataclass(frozen=True)
class PartitionResult:
    """The comparison of one partition, with the damage and the graphs that diverge.

    end  offset after the last record of the log before the live state was read
    """

    verification: Verification
    end: int
    problem: str = ""
    divergences: list[Divergence] = field(default_factory=list)

    @property
    def match(self) -> bool | None:
        """Return whether live state and fold are equal, None if there was nothing to compare."""
        if self.problem or not self.verification.match:
            return False
        return True if self.verification.compared else None

    @property
    def behind(self) -> int:
        """Count the records of the log that were not folded yet, and so not compared."""
        return max(0, self.end - 1 - self.verification.watermark)


def verify(json: output.Json = False) -> None:
    """Verify that the live memory equals the log: compare every partition with an offline rebuild.

    Exits with 4 if one differs, else with 3 if one could not be compared because no worker has folded it yet.
    """
    result = output.run(_verify())
    match = _all_of(result)
    if json:
        output.print_json({"match": match, "partitions": [_described(each) for each in result]})
    else:
        _show(result)
    for each in result:
        _explain(each)
    if match is None:
        _fail_uncompared(result)
    if not match:
        raise typer.Exit(output.MISMATCH)


def _all_of(result: list[PartitionResult]) -> bool | None:
    """Sum up: False where one differs, else None where one was not compared."""
    matches = [each.match for each in result]
    return False if False in matches else None if None in matches else True


def _fail_uncompared(result: list[PartitionResult]) -> NoReturn:
    missing = [str(each.verification.partition) for each in result if each.match is None]
    which = "nothing to compare yet" if len(missing) == len(result) else f"not compared: partition {', '.join(missing)}"
    start = "`emgas doctor` runs one" if output.settings().is_embedded else "start `emgas worker`"
    output.fail(f"{which}: no worker has folded the log there. {start[0].upper()}{start[1:]}", output.MISSING)


async def _verify() -> list[PartitionResult]:
    from streams.cli.shared.live_state import live  # here: --help needs none of it
    from streams.transport.select import readable

    settings = output.settings()
    async with readable(settings) as topics, live(settings, topics.keys) as there:
        log = topics.reader(settings.topics.events)
        return [await _compared(log, partition, there) for partition in range(topics.partitions)]


async def _compared(log: LogReader, partition: int, there: Live) -> PartitionResult:
    """Compare one partition.  A damaged store, and a log that cannot be the one folded here, are differences too."""
    from replay.verify.verify import Audit, Verification, verify_partition  # here: --help needs none of it
    from streams.cli.shared.live_state import LivePosition

    counts, end = LivePosition(-1, ""), (await log.bounds(partition))[1]
    try:
        counts = await there.position(partition)
        verification = await verify_partition(log, partition, *counts)
    except HaltedError as error:
        return PartitionResult(Verification(partition, *counts, "", 0, Audit()), end, str(error))
    if verification.digest_live == verification.digest_replayed:
        return PartitionResult(verification, end)
    return await _explained(log, verification, end, there=there)


async def _explained(log: LogReader, verification: Verification, end: int, *, there: Live) -> PartitionResult:
    from replay.rebuild.rebuild import refused_from  # here: --help needs none of it
    from replay.verify.divergence import diverging

    partition = verification.partition
    try:
        refused = await refused_from(log, partition, verification.watermark + 1)
        problem = "" if refused is None else f"of the log, nothing from offset {refused} on was accepted"
        with await there.store(partition) as store:
            if store is None:
                why = "to see where, set the same EMGAS_SNAPSHOTS for the workers and for this command"
                return PartitionResult(verification, end, problem or why)
            return PartitionResult(verification, end, problem, await diverging(log, partition, store))
    except EmgasError as error:
        return PartitionResult(verification, end, f"cannot find where it differs: {error}")


def _described(result: PartitionResult) -> dict[str, Any]:
    each = result.verification
    return {
        "partition": each.partition,
        "watermark": each.watermark,
        "log_end": result.end,
        "digest_live": each.digest_live,
        "digest_replayed": each.digest_replayed,
        "match": result.match,
        "turns": each.turns,
        "each_once": each.audit.each_once,
        "duplicates": each.audit.duplicates,
        "rejected": each.audit.rejected,
        "ignored": each.audit.ignored,
        "problem": result.problem,
        "divergences": [_divergence(graph) for graph in result.divergences],
    }


def _divergence(each: Divergence) -> dict[str, Any]:
    return {**asdict(each), "differences": [difference._asdict() for difference in each.differences]}


def _show(result: list[PartitionResult]) -> None:
    columns = ("partition#", "at#", "log ends at#", "turns#", "once", "equal")
    rows = output.table("live state against an offline fold of the log", *columns)
    for one in result:
        each = one.verification
        ends = str(one.end - 1) if one.end else ""
        if one.match is None:
            rows.add_row(str(each.partition), "", ends, "", "", "not compared")
            continue
        once, equal = each.audit.each_once, each.digest_live == each.digest_replayed
        rows.add_row(
            str(each.partition), str(each.watermark), ends, str(each.turns), _mark(good=once), _mark(good=equal)
        )
    output.out.print(rows)


def _mark(*, good: bool) -> str:
    return "[green]yes[/]" if good else "[bold red]NO[/]"


def _explain(result: PartitionResult) -> None:
    """Print on stderr what is wrong with a partition, and what was not compared."""
    partition = result.verification.partition
    if result.match is not None and result.behind:
        report = f"partition {partition}: compared up to offset {result.verification.watermark}"
        output.warn(f"{report}; what follows up to {result.end - 1} is not folded yet")
    if result.problem:
        _say(f"partition {partition}", result.problem)
    for each in result.divergences[:SHOWN]:
        _say(f"partition {partition}, graph {each.graph}", _describe_divergence(each))
    if len(result.divergences) > SHOWN:
        _say(f"partition {partition}", f"{len(result.divergences) - SHOWN} more graphs differ: see --json")


def _describe_divergence(each: Divergence) -> str:
    if each.offset < 0:
        return each.what
    when = f" of {format_utc(each.at)}" if each.at is not None else ""
    since = "the event" if each.exact else "from the event on"
    return f"{since} at offset {each.offset} ({each.kind}{when}): {each.what}"


def _say(where: str, what: str) -> None:
    output.err.print(f"[bold red]{where}:[/] {escape(what)}")
