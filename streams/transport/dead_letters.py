"""Read dead letters: the rejected records, with their origin and the reason."""

from __future__ import annotations

from typing import NamedTuple

from emgas.wire import Record, as_mapping
from replay.log import LogReader, keys_of
from state.sealing.keyring import Keyring, unlock


class DeadLetter(NamedTuple):
    """One record of `dead-letters`.

    id         partition:offset in `dead-letters`
    origin     topic/partition@offset where the record lay, or the topic that it was refused for before sending
    timestamp  when it was buried, ms
    """

    id: str
    origin: str
    reason: str
    timestamp: int
    key: bytes | None
    value: bytes


async def read_all(log: LogReader) -> list[DeadLetter]:
    """Read what the topic `dead-letters` keeps, oldest first."""
    letters = []
    for partition in range(await log.partitions()):
        start, end = await log.bounds(partition)
        async for batch in log.read(partition, start, end):
            letters += [_letter(partition, record, keys_of(log)) for record in batch]
    return sorted(letters, key=lambda letter: letter.timestamp)


def _letter(partition: int, record: Record, keys: Keyring) -> DeadLetter:
    fields = {name: value.decode(errors="replace") for name, value in as_mapping(record.headers).items()}
    origin = fields.get("emgas.errors.topic", "?")
    if fields.get("emgas.errors.offset", "-1") != "-1":
        origin += f"/{fields.get('emgas.errors.partition')}@{fields['emgas.errors.offset']}"
    reason = fields.get("emgas.errors.message", "")
    value, lost = _unlocked(record, keys)
    return DeadLetter(f"{partition}:{record.offset}", origin, reason + lost, record.timestamp, record.key, value)


def _unlocked(record: Record, keys: Keyring) -> tuple[bytes, str]:
    """Open a letter of an encrypted graph; without its key nothing is left but why."""
    try:
        return unlock(record.value, (record.key or b"").decode(errors="replace"), keys), ""
    except ValueError:
        return b"", " (encrypted, and its key is destroyed or not here)"
