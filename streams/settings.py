"""The settings of an operator: environment variables EMGAS_*, nothing else.  The log never depends on them.

EMGAS_BROKER   kafka://host:9092[,host:9092]; without it the embedded log is used
EMGAS_DATA     directory of the embedded log and of the partitions' stores
EMGAS_ROLE     what a worker does: fold and answer, only the one, or only the other
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self

import platformdirs
from pydantic import ByteSize, ConfigDict, Field, field_validator, model_validator

from emgas.client.security import SecuritySettings
from emgas.times import DAY_MS
from emgas.wire import TopicNames
from state.memory_budget import DEFAULT_MEMORY

Role = Literal["all", "writer", "reader"]
ADVISED = ("name", "rate", "summarise", "rewrite", "split", "judge")  # processors/advice/advisor.py
DEFAULT_PRESET = "default"
READERS = "-readers"  # behind the workers' group: that of the readers


def _default_data() -> Path:
    return Path(platformdirs.user_data_dir("emgas", appauthor=False))


def _lines(file: Path | None) -> list[str]:
    try:
        return [] if file is None else file.read_text("utf-8").splitlines()
    except OSError as error:
        raise ValueError(f"{file} cannot be read ({error.strerror}): name a file with one word a line") from None


def _environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the settings among variables, by the names of the fields."""
    named = {name.lower().removeprefix("emgas_"): value for name, value in variables.items() if _is_ours(name)}
    return {name: value for name, value in named.items() if name in WorkerSettings.model_fields}


def _is_ours(variable: str) -> bool:
    return variable.lower().startswith("emgas_")


class WorkerSettings(SecuritySettings):
    """Read once, at start; the same for every part of the process.  An argument precedes the environment's value."""

    model_config = ConfigDict(
        frozen=True, hide_input_in_errors=True, extra="forbid", validate_default=True, defer_build=True
    )

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{**_environment(os.environ), **settings})

    broker: str | None = Field(None, description="kafka://host:port[,host:port]; without it, the log is embedded")
    data: Path = Field(default_factory=_default_data, description="directory of the embedded log and of the stores")
    role: Role = Field("all", description="of a worker: a writer answers nothing, a reader only answers")
    prefix: str = Field("emgas", pattern=r"^[a-z0-9][a-z0-9-]{0,62}$", description="of the topics and of the group")
    partitions: int = Field(8, ge=1, le=1024, description="of topics that are yet to be created")
    replication: int = Field(1, ge=1, le=7, description="of topics that are yet to be created")
    readers_per_partition: int = Field(
        1,
        ge=1,
        le=64,
        description="readers that may answer of one partition: so many times the partitions has `queries`",
    )
    tiered: bool = Field(False, description="whether old segments of the log go into remote storage")  # noqa: FBT003 - pydantic's way
    local_days: float = Field(7.0, gt=0, description="after so many days they are there alone, if the log is tiered")
    preset: str = Field(DEFAULT_PRESET, description="preset of graphs that are not configured")
    tick_seconds: float = Field(10.0, gt=0, description="how often silent live graphs are looked at")
    language: str = Field("en", description="of Latin script in turns and queries, ISO 639-1")
    words: Path | None = Field(None, description="file of Chinese words that the dictionary lacks, one a line, UTF-8")
    extractor: str = Field(
        "processors.extraction.yake_extractor.YakeExtractor", description="package.module.name of another one"
    )
    extraction_processes: int | None = Field(
        None,
        ge=0,
        le=64,
        description="processes that find the concepts of a burst of turns; 0: none, else as many as cores, up to 4",
    )
    embedder: Path | None = Field(
        None, description="model of text embeddings (`emgas admin model add`): turns are recorded with their vectors"
    )
    encoders: list[str] = Field(
        default_factory=list,
        description="package.module.name of encoders of photos, sounds and films, comma-separated: what comes with "
        "turns is recorded with their vectors",
    )
    advisor: str | None = Field(
        None,
        description="http(s)://… of a server of OpenAI's API, or package.module.name: the advisor; none without it",
    )
    advisor_model: str = Field("", description="which model of that server")
    advisor_key_file: Path | None = Field(None, description="file that holds its key")
    advisor_options: dict[str, Any] = Field(
        default_factory=lambda: {"temperature": 0}, description="what it is sent beside model and messages, as JSON"
    )
    advisor_asks: list[str] = Field(
        default_factory=lambda: ["name", "summarise"],
        description="asked for unasked, comma-separated: name, rate, summarise, rewrite (habits), split, judge",
    )
    advisor_deadline: float = Field(30.0, gt=0, description="seconds until its answer counts as late")
    advisor_calls: int = Field(60, ge=0, description="of it within an hour, at most")
    advisor_tokens: int = Field(200_000, ge=0, description="that it is asked for within an hour, reckoned by length")
    skew_ms: int = Field(300_000, ge=0, description="how far in the future an event time may lie before it is clamped")
    reply_topics: list[str] = Field(
        default_factory=list, description="topics that may be answered on besides the own one, comma-separated"
    )
    batch_turns: int = Field(64, ge=1, le=1000, description="turns folded and flushed together at most")
    queued_turns: int = Field(512, ge=1, description="turns read ahead per partition")
    queries_at_once: int = Field(256, ge=1, description="queries waiting or answered; more get `overloaded`")
    append_timeout: float = Field(60.0, gt=0, description="seconds without an ack until the worker gives up and exits")
    stop_timeout: float = Field(20.0, gt=0, description="seconds after SIGTERM until a worker leaves as it is")
    memory: ByteSize = Field(
        ByteSize(DEFAULT_MEMORY),
        ge=1,
        description="memory budget for loaded graphs, shared by all partitions of a worker",
    )
    instance: str | None = Field(
        None,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$",
        description="name of a worker, the same after a restart, which then moves no partition; no two share one",
    )
    rack: str | None = Field(None, description="where a process runs, as brokers say (`broker.rack`): it reads nearby")
    session_timeout: float = Field(10.0, gt=0, description="seconds until the group misses a dead worker")
    isolation: Literal["read_committed", "read_uncommitted"] = Field(
        "read_committed", description="whether what a Kafka transaction wrote counts only once it is committed"
    )
    fetch_wait_ms: int = Field(150, ge=1, description="how long the broker may hold back an empty fetch")
    redact: bool = Field(True, description="replace keys, tokens and passwords in texts")  # noqa: FBT003 - pydantic's way
    encryption: bool = Field(False, description="whether graphs are born encrypted")  # noqa: FBT003 - pydantic's way
    graph_keys: Path | None = Field(None, description="directory of the keys of encrypted graphs")
    kek_file: Path | None = Field(None, description="64 hexadecimal digits that the keys are encrypted by, at rest")
    erased_within_days: int = Field(30, ge=1, description="what is erased is to be gone from every topic: doctor looks")
    keys_compacted_seconds: float = Field(
        3600.0, ge=1, description="after so long Kafka is to compact the topic of keys: what is destroyed goes"
    )
    snapshots: str | None = Field(None, description="directory or fsspec URL where workers keep snapshots")
    snapshots_kept: int = Field(3, ge=1, description="newest snapshots kept of each partition")
    health: str | None = Field(None, description="[host:]port of /livez, /readyz and /metrics; a bare port: loopback")
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"] = Field(
        "INFO", description="of a worker's JSON lines on stderr; they never hold a turn's text"
    )

    @field_validator("reply_topics", "encoders", "advisor_asks", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return [name.strip() for name in value.split(",") if name.strip()] if isinstance(value, str) else value

    @field_validator("preset")
    @classmethod
    def _known_preset(cls, value: str) -> str:
        if value == DEFAULT_PRESET:
            return value
        from emgas.messages.settings.memory_settings import valid_preset  # here: the presets take long to build

        return valid_preset(value)

    @field_validator("advisor_options", mode="before")
    @classmethod
    def _options(cls, value: object) -> object:
        try:
            return json.loads(value) if isinstance(value, str) else value
        except json.JSONDecodeError:
            raise ValueError('must be a JSON object, as {"temperature": 0}') from None

    @field_validator("advisor_asks")
    @classmethod
    def _check_reply_topics(cls, value: list[str]) -> list[str]:
        if unknown := set(value) - set(ADVISED):
            raise ValueError(f"unknown kinds of advice: {', '.join(sorted(unknown))}. Choose from {', '.join(ADVISED)}")
        return value

    @field_validator("words")
    @classmethod
    def _readable_words(cls, value: Path | None) -> Path | None:
        if value is not None:
            from processors.text.chinese import Segmenter  # here: with its dictionary, only who has words needs it

            Segmenter(_lines(value))
        return value

    @property
    def own_words(self) -> list[str]:
        """The words of the file `words`; none without one."""
        return _lines(self.words)

    @field_validator("health")
    @classmethod
    def _listenable(cls, value: str | None) -> str | None:
        host, _, port = (value or "").rpartition(":")
        if value and not (port.isdecimal() and int(port) < 65536 and (host or ":" not in value)):
            raise ValueError("must be host:port, or a port of this machine alone")
        return value or None

    @field_validator("snapshots")
    @classmethod
    def _somewhere(cls, value: str | None) -> str | None:
        return value or None

    @field_validator("broker")
    @classmethod
    def _check_scheme(cls, value: str | None) -> str | None:
        if not value:
            return None
        if not value.startswith("kafka://") or len(value) == len("kafka://"):
            raise ValueError("must be kafka://host:port[,host:port…], or empty for the embedded log")
        if "@" in value:  # not repeated: it may hold a password
            raise ValueError("holds credentials: set EMGAS_SASL_USERNAME and EMGAS_SASL_PASSWORD instead")
        return value

    @field_validator("graph_keys", "kek_file", "advisor", "advisor_key_file", "instance", "rack", mode="before")
    @classmethod
    def _empty_is_nothing(cls, value: object) -> object:
        return value or None

    @model_validator(mode="after")
    def _keys_have_a_place(self) -> Self:
        if self.encryption and self.broker and not (self.graph_keys or self.kek_file):
            raise ValueError(
                "EMGAS_ENCRYPTION on Kafka wants EMGAS_KEK_FILE, for keys in a topic (openssl rand -hex 32 > FILE), or "
                "EMGAS_GRAPH_KEYS, a directory that all workers share"
            )
        return self

    @property
    def keys_directory(self) -> Path | None:
        """Return the directory of the graphs' keys; None where they are in a topic, or there are none."""
        if self.graph_keys is not None or self.is_embedded:
            home = self.graph_keys or self.data.expanduser() / "keys"
            return home / ("embedded" if self.is_embedded else "kafka") / self.prefix
        return None

    @property
    def keys_in_topic(self) -> bool:
        """Return whether the graphs' keys are in a topic that all workers share."""
        return self.kek_file is not None and self.keys_directory is None

    @property
    def health_address(self) -> tuple[str, int] | None:
        """Return the address of the health server, (host, port), None if it is off."""
        if self.health is None:
            return None
        host, _, port = self.health.rpartition(":")
        return host.strip("[]") or "127.0.0.1", int(port)

    @property
    def local_ms(self) -> int | None:
        """Return how long Kafka keeps a segment of the log on its own disk, ms; None without remote storage."""
        return round(self.local_days * DAY_MS) if self.tiered else None

    @property
    def topics(self) -> TopicNames:
        return TopicNames(self.prefix)

    @property
    def group(self) -> str:
        """Return the consumer group of a worker in this role."""
        return self.readers_group if self.role == "reader" else self.prefix

    @property
    def readers_group(self) -> str:
        """Return the consumer group of the readers."""
        return self.prefix + READERS

    @property
    def is_embedded(self) -> bool:
        return self.broker is None

    @property
    def bootstrap(self) -> str:
        """Write host:port[,host:port] of the broker; "" when embedded."""
        return (self.broker or "").removeprefix("kafka://")

    @property
    def home(self) -> Path:
        """Return the directory of this transport and prefix: stores of different logs are never mixed."""
        return self.data.expanduser() / ("embedded" if self.is_embedded else "kafka") / self.prefix

    def store_of(self, partition: int) -> Path:
        """Return the directory of one partition's store."""
        return self.home / "partitions" / str(partition)
