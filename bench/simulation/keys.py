"""The keys of encrypted graphs, in a topic of the simulated broker, with a real KafkaKeys of each process before it."""

from __future__ import annotations

from bench.simulation.broker import Broker, Link, Reader
from state.sealing.graph_key import GraphKey
from state.sealing.keyring import HeldKeys
from streams.transport.keys.kafka_keys import PARTITION, KafkaKeys
from streams.transport.keys.wrapping import Wrapping


def keys_of_process(link: Link, topic: str) -> KafkaKeys:
    """Return the keys of one process, which are read over its link; a worker writes them with its producer."""
    return KafkaKeys(topic, Reader(link, topic), Wrapping())


def newest_keys(broker: Broker, topic: str) -> HeldKeys:
    """Return the keys as a process would read them that starts once the topic is compacted: the newest of each."""
    keys = HeldKeys()
    newest = {stored.record.key: stored.record for stored in broker.log(topic, PARTITION).stored}
    for record in newest.values():
        if record.value:  # the record that lets the broker compact is no key
            keys.hold(GraphKey.of_bytes(record.value))
    return keys
