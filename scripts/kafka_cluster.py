"""A cluster of local Kafka brokers: its files, its processes, whether it answers. scripts/kafka is its command line.

    <clusters>/NAME/cluster.json   id, ports and process ids
    <clusters>/NAME/node-<n>/      server.properties, log4j2.properties, broker.log, output.log, data/
    <clusters>/NAME/security/      of a secured broker: kafka_security.py
    <clusters>/NAME/remote/        of a tiered broker: segments that went into remote storage

Only the standard library: this runs before there is a virtual environment.
"""

import base64
import contextlib
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import kafka_security

DEFAULT_PORT = 9092
START_SECONDS = 90.0  # three brokers on two busy cores
STOP_SECONDS = 10.0  # then SIGKILL: what is stopped here is a test broker
METADATA = 3  # Kafka's api key

LOG4J = """\
appender.file.type=File
appender.file.name=file
appender.file.fileName={log}
appender.file.layout.type=PatternLayout
appender.file.layout.pattern=%d{{ISO8601}} %p %m (%c{{1}})%n
rootLogger.level=INFO
rootLogger.appenderRef.file.ref=file
"""

# Internal topics get 4 partitions instead of 50: their creation is most of what a first consumer waits for.
# The cleaner's buffer is 128 MiB by default, a third of the heap that each of three brokers gets.
PROPERTIES = """\
process.roles=broker,controller
node.id={id}
controller.quorum.voters={voters}
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller_port}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs={data}
auto.create.topics.enable=false
group.initial.rebalance.delay.ms=0
default.replication.factor={brokers}
min.insync.replicas={in_sync}
offsets.topic.num.partitions=4
offsets.topic.replication.factor={brokers}
transaction.state.log.num.partitions=4
transaction.state.log.replication.factor={brokers}
transaction.state.log.min.isr={in_sync}
share.coordinator.state.topic.num.partitions=4
share.coordinator.state.topic.replication.factor={brokers}
share.coordinator.state.topic.min.isr={in_sync}
log.cleaner.dedupe.buffer.size=8388608
num.network.threads=2
num.io.threads=4
"""


# A segment goes into remote storage once the next one has begun, which it does with the first record after log.roll.ms.
TIERED = """\
remote.log.storage.system.enable=true
remote.log.storage.manager.class.name=org.apache.kafka.server.log.remote.storage.LocalTieredStorage
remote.log.metadata.manager.listener.name=PLAINTEXT
rlmm.config.remote.log.metadata.topic.replication.factor=1
rlmm.config.remote.log.metadata.topic.num.partitions=1
rsm.config.dir={remote}
remote.log.manager.task.interval.ms=300
log.retention.check.interval.ms=300
log.segment.delete.delay.ms=0
log.roll.ms=500
"""


class RefusedError(Exception):
    """The request cannot be done; the message says what to do about it."""


def say(message: str) -> None:
    """Print a message to stderr: stdout is for the address."""
    print(f"kafka: {message}", file=sys.stderr, flush=True)


def until(condition: Callable[[], bool], seconds: float) -> bool:
    """Ask again every 100 ms until `condition` holds; False when it still does not at the deadline."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


def is_free(port: int) -> bool:
    """Return whether a server can listen on the port."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as Java does: TIME_WAIT is no obstacle
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def free_ports(count: int, first: int | None) -> list[int]:
    """Find `count` free ports from `first` (default 9092) upwards.

    They stay below the range that the system gives to outgoing connections, so that a broker finds its port still free
    when it is restarted.
    """
    if first is not None and not is_free(first):
        raise RefusedError(f"port {first} is taken; without --port a free one is chosen")
    start = first or DEFAULT_PORT
    ports = [port for port in range(start, min(start + 200, 65536)) if is_free(port)][:count]
    if len(ports) < count:
        raise RefusedError(f"no free ports from {start} upwards")
    return ports


def count_brokers(port: int) -> int:
    """Count the brokers that the one on `port` can name (Metadata request, version 4, no topics); 0 without answer."""
    request = struct.pack(">hhih5siB", METADATA, 4, 1, 5, b"emgas", 0, 0)
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=2) as peer:
            peer.sendall(struct.pack(">i", len(request)) + request)
            answer = peer.makefile("rb").read(16)
    except OSError:
        return 0
    # length, correlation id, throttle time, number of brokers
    return int(struct.unpack(">iiii", answer)[3]) if len(answer) == 16 else 0


@dataclass
class Node:
    """A broker, which is a controller as well: its ports, its folder, and its process while it runs."""

    id: int
    port: int
    controller_port: int
    folder: Path
    pid: int = 0

    @property
    def settings(self) -> Path:
        return self.folder / "server.properties"

    def runs(self) -> bool:
        """Return whether this process is ours: a stranger that got its id since must not be killed."""
        if not self.pid:
            return False
        if not Path("/proc/self").exists():
            ps = ["ps", "-ww", "-o", "command=", "-p", str(self.pid)]
            return str(self.settings) in subprocess.run(ps, capture_output=True, text=True).stdout
        try:
            return str(self.settings) in Path(f"/proc/{self.pid}/cmdline").read_text()
        except OSError:
            return False

    def log_tail(self) -> str:
        logs = [log for log in (self.folder / "broker.log", self.folder / "output.log") if log.exists()]
        return "\n".join("\n".join([f"-- {log}", *log.read_text().splitlines()[-25:]]) for log in logs)


@dataclass
class Cluster:
    """Brokers that know each other, and the folder that remembers them between two calls of scripts/kafka."""

    name: str
    id: str
    folder: Path
    nodes: list[Node]
    secured: tuple[int, ...] = ()  # ports of the listeners that ask who comes, as kafka_security.py orders them
    tiered: bool = False

    @classmethod
    def create(
        cls, folder: Path, brokers: int, first_port: int | None, *, secured: bool = False, tiered: bool = False
    ) -> "Cluster":
        extra = len(kafka_security.LISTENERS) if secured else 0
        ports = free_ports(2 * brokers + extra, first_port)
        shutil.rmtree(folder, ignore_errors=True)  # only now: a refused start deletes nothing
        nodes = [Node(n + 1, ports[n], ports[brokers + n], folder / f"node-{n + 1}") for n in range(brokers)]
        # "A" first: an id that began with "-" would be read as an option
        identity = "A" + base64.urlsafe_b64encode(uuid.uuid4().bytes).decode()[1:22]
        return cls(folder.name, identity, folder, nodes, tuple(ports[2 * brokers :]), tiered)

    @classmethod
    def load(cls, folder: Path) -> "Cluster | None":
        try:
            saved = json.loads((folder / "cluster.json").read_text())
        except FileNotFoundError:
            return None
        nodes = [Node(**{**node, "folder": folder / f"node-{node['id']}"}) for node in saved["nodes"]]
        secured, tiered = tuple(saved.get("secured", ())), saved.get("tiered", False)
        return cls(folder.name, saved["id"], folder, nodes, secured, tiered)

    def save(self) -> None:
        fresh = self.folder / "cluster.new"
        nodes = [asdict(node) for node in self.nodes]
        saved = {"id": self.id, "nodes": nodes, "secured": self.secured, "tiered": self.tiered}
        fresh.write_text(json.dumps(saved, default=str))
        fresh.replace(self.folder / "cluster.json")

    @property
    def address(self) -> str:
        return ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)

    def stopped(self) -> list[Node]:
        return [node for node in self.nodes if not node.runs()]

    def answers(self) -> bool:
        # runs(): where a node is stopped, another cluster may have its port by now
        return all(node.runs() and count_brokers(node.port) == len(self.nodes) for node in self.nodes)

    def write_settings(self, node: Node) -> None:
        voters = ",".join(f"{each.id}@127.0.0.1:{each.controller_port}" for each in self.nodes)
        values = {"brokers": len(self.nodes), "in_sync": min(2, len(self.nodes)), "data": node.folder / "data"}
        node.folder.mkdir(parents=True, exist_ok=True)
        properties = PROPERTIES.format(**asdict(node), **values, voters=voters)
        if self.secured:
            properties = kafka_security.secured(properties, self.folder / "security", self.secured)
        if self.tiered:
            properties += TIERED.format(remote=self.folder / "remote")
        node.settings.write_text(properties)
        (node.folder / "log4j2.properties").write_text(LOG4J.format(log=node.folder / "broker.log"))

    def run(self, node: Node, java: list[str], *arguments: str) -> "subprocess.Popen[bytes]":
        """Start a Java program of Kafka for this node, in a session of its own: Ctrl-C in a terminal spares it."""
        heap = "-Xmx512m" if len(self.nodes) == 1 else "-Xmx384m"
        options = [heap, "-XX:+UseSerialGC", "-XX:+ExitOnOutOfMemoryError"]
        options.append(f"-Dlog4j2.configurationFile={node.folder / 'log4j2.properties'}")
        command = [java[0], *options, *java[1:], *arguments]
        with (node.folder / "output.log").open("ab") as log:
            return subprocess.Popen(
                command, cwd=node.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )

    def format(self, java: list[str]) -> None:
        """Format an empty storage for every node.  `java` is the program and its class path."""
        verb = ("kafka.tools.StorageTool", "format", "--cluster-id", self.id, "--config")
        if self.secured:
            kafka_security.make(self.folder / "security", self.secured)
            verb = (*verb[:2], *kafka_security.SCRAM_USERS, *verb[2:])
        for node in self.nodes:
            self.write_settings(node)
        tools = [(node, self.run(node, java, *verb, str(node.settings))) for node in self.nodes]
        for node, tool in tools:
            if tool.wait():
                raise RefusedError(f"formatting the storage failed:\n{node.log_tail()}")

    def start(self, java: list[str]) -> None:
        """Start the nodes that do not run, and return once all of them answer."""
        missing = self.stopped()
        try:
            for node in missing:
                self.write_settings(node)
                process = self.run(node, java, "kafka.Kafka", str(node.settings))
                node.pid = process.pid
                self.save()
                # right after the fork the command line is still empty, and a live broker would be taken for a dead one
                until(lambda node=node, process=process: node.runs() or process.poll() is not None, 5)  # type: ignore[misc]
            if not until(lambda: self.answers() or bool(self.stopped()), START_SECONDS) or self.stopped():
                logs = "\n".join(node.log_tail() for node in self.stopped() or self.nodes)
                raise RefusedError(f"the brokers of {self.name!r} do not answer:\n{logs}")
        except BaseException:  # Ctrl-C too: nothing half started stays behind
            self.stop(missing)
            raise

    def stop(self, nodes: list[Node], seconds: float = STOP_SECONDS) -> None:
        """SIGTERM to all at once (one alone would wait for the others' quorum), SIGKILL to those that take too long."""

        def all_gone() -> bool:
            return not any(node.runs() for node in nodes)

        for sign in (signal.SIGTERM, signal.SIGKILL):
            for node in nodes:
                if node.runs():
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(node.pid, sign)
            if until(all_gone, seconds):
                return
            say(f"some brokers of {self.name!r} outlived {sign.name}")
        raise RefusedError(f"could not end {self.name!r}")
