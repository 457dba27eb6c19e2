"""The topics as an AsyncAPI 3 document: channels, what a record of each may hold, what is answered, headers, keys.

Made of the message schemas and of the unions that say which message belongs to which topic; asyncapi.json beside this
file is what it returns.  The operations are those of a worker: it receives turns and questions, and sends the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import TypeAdapter

from emgas.messages.topics import ANSWER, INBOUND, REQUEST
from emgas.schema.examples import EXAMPLES
from emgas.wire import CORRELATION_ID, DEADLINE, REPLY_PARTITION, REPLY_TO, TopicNames, cloud_event

TOPICS = TopicNames()
Json = dict[str, Any]
CHANGE = "Change"
CORRELATED = {CORRELATION_ID: {"type": "string", "description": "any bytes; they come back on the answer"}}
REPLY_HEADERS = {
    **CORRELATED,
    REPLY_TO: {"type": "string", "description": "the topic to answer on, one that the workers allow"},
    REPLY_PARTITION: {"type": "string", "pattern": "^[0-9]+$", "description": "the partition of it that you read"},
    DEADLINE: {
        "type": "string",
        "pattern": "^[0-9]+$",
        "description": "ms since 1970: no answer is needed later",
    },
}
CLOUD_EVENT = {name: {"type": "string"} for name, _ in cloud_event("turn", "", "")}


def document(schemas: Mapping[str, Json]) -> Json:
    """Build the document from the schema of each message, by its name."""
    inbound, questions, answers = (_names(adapter) for adapter in (INBOUND, REQUEST, ANSWER))
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "EMGAS",
            "version": "1.0.0",
            "description": "Associative memory for conversational AI, over Apache Kafka. docs/wire.md tells the rest. "
            "A key's partition is the Java client's default: murmur2(key) & 0x7fffffff % partitions.",
            "license": {"name": "Apache-2.0"},
        },
        "defaultContentType": "application/json",
        "servers": {"kafka": {"host": "localhost:9092", "protocol": "kafka"}},
        "channels": {
            "turns": _channel(TOPICS.turns, "Turns to remember, and commands to graphs.", inbound),
            "queries": _channel(TOPICS.queries, "Questions to graphs, and to the owners of partitions.", questions),
            "replies": _channel(TOPICS.replies, "Answers, in the partition that the question named.", answers),
            "changes": _channel(TOPICS.changes, "What windows decided, at least once.", [CHANGE]),
        },
        "operations": {
            "remember": _answered("turns", inbound, ["Outcome"]),
            "answer": _answered("queries", questions, [name for name in answers if name != "Outcome"]),
            "tell": {
                "action": "send",
                "channel": {"$ref": "#/channels/changes"},
                "messages": _refs("#/channels/changes/messages", [CHANGE]),
            },
        },
        "components": {
            "messages": {
                **{name: _message(name, schemas[name], REPLY_HEADERS) for name in (*inbound, *questions)},
                **{name: _message(name, schemas[name], CORRELATED) for name in answers},
                CHANGE: _message(CHANGE, {"description": "An event as the log has it."}, {}),
            },
            "schemas": {**_hoisted(schemas), CHANGE: {"type": "object", "required": ["kind"]}},
        },
    }


def _names(adapter: TypeAdapter[Any]) -> list[str]:
    """Return the names of a union's messages."""
    return [each["$ref"].rpartition("/")[2] for each in adapter.json_schema()["oneOf"]]


def _refs(path: str, names: Iterable[str]) -> list[Json]:
    return [{"$ref": f"{path}/{name}"} for name in names]


def _channel(address: str, description: str, names: Iterable[str]) -> Json:
    return {
        "address": address,
        "description": description,
        "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in names},
        "bindings": {"kafka": {"topic": address, "bindingVersion": "0.5.0"}},
    }


def _answered(channel: str, names: Iterable[str], answers: Iterable[str]) -> Json:
    return {
        "action": "receive",
        "channel": {"$ref": f"#/channels/{channel}"},
        "messages": _refs(f"#/channels/{channel}/messages", names),
        "reply": {
            "address": {"location": f"$message.header#/{REPLY_TO}"},
            "channel": {"$ref": "#/channels/replies"},
            "messages": _refs("#/channels/replies/messages", answers),
        },
    }


def _message(name: str, schema: Json, headers: Json) -> Json:
    """Describe a message; one about a graph has the graph as its key."""
    graph = schema.get("properties", {}).get("graph")
    key = {"key": graph} if graph and headers is not CORRELATED else {}
    examples = {"examples": [{"name": name, "payload": EXAMPLES[name]}]} if name in EXAMPLES else {}
    return {
        "name": name,
        "title": name,
        "summary": schema["description"].partition("\n")[0],
        "contentType": "application/json",
        "headers": {"type": "object", "properties": {**headers, **CLOUD_EVENT}},
        **({"correlationId": {"location": f"$message.header#/{CORRELATION_ID}"}} if headers else {}),
        "payload": {"$ref": f"#/components/schemas/{name}"},
        "bindings": {"kafka": {**key, "bindingVersion": "0.5.0"}},
        **examples,
    }


def _hoisted(schemas: Mapping[str, Json]) -> Json:
    """Move the schemas that messages share beside those of the messages."""
    shared = {name: inner for schema in schemas.values() for name, inner in schema.get("$defs", {}).items()}
    return {name: _pointed(schema) for name, schema in {**shared, **schemas}.items()}


def _pointed(schema: Any) -> Any:
    """Point references to a message's own definitions at the shared ones."""
    if isinstance(schema, list):
        return [_pointed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {name: _pointed(part) for name, part in schema.items() if name not in ("$defs", "$id", "$schema")}
    if isinstance(ref := schema.get("$ref"), str):
        kept["$ref"] = ref.replace("#/$defs/", "#/components/schemas/")
    if isinstance(discriminator := schema.get("discriminator"), dict) and "mapping" in discriminator:
        kept["discriminator"] = discriminator["propertyName"]  # AsyncAPI names the field alone
    return kept
