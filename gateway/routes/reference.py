"""The reference of the gateway as a page, from its OpenAPI document: plain HTML, no script, nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from shlex import quote
from typing import Any
from urllib.parse import quote as in_url

import orjson

from gateway.routes.examples import CALLED_WITH, FIRST, FROM_THE_WIRE, LAST

Schema = Mapping[str, Any]
HEAD = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>EMGAS: routes</title><link rel="icon" href="icon.svg">
<link rel="stylesheet" href="docs.css"></head><body><main>"""
INTRODUCTION = """<h1>EMGAS <small>{version}</small></h1>
<p>{summary} <a href="./">Look at a memory</a> · <a href="openapi.json">openapi.json</a> (OpenAPI {openapi}).
If this server has keys, send <code>Authorization: Bearer KEY</code>. Errors are
<code>application/problem+json</code>.</p>
<p>Each call below was made in this order on an empty memory, and got the answer below it. Calls that record
something come first, and calls that remove something last.</p>"""
MODEL = ", if you started <code>emgas serve --model URL</code>"


def reference(document: Schema, address: str) -> str:
    """Render the page; `address`: of this server, for the calls."""
    schemas = document.get("components", {}).get("schemas", {})
    introduction = INTRODUCTION.format(
        version=escape(document["info"]["version"]),
        summary=escape(document["info"]["summary"]),
        openapi=escape(document["openapi"]),
    )
    operations = [
        _operation(method, path, operation, schemas, address=address)
        for method, path, operation in sorted(_listed(document), key=lambda each: _place(each[2]))
    ]
    shapes = [_shape(name, schema, schemas) for name, schema in sorted(schemas.items())]
    return "\n".join([HEAD, introduction, *operations, "<h2>Shapes</h2>", *shapes, "</main></body></html>\n"])


def _listed(document: Schema) -> Iterator[tuple[str, str, Schema]]:
    """Yield the method and the path of each operation, with its description."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method, path, operation


def _place(operation: Schema) -> int:
    """Return where an operation stands: those that record come first, those that remove come last."""
    name = operation["operationId"]
    if name in FIRST:
        return FIRST.index(name) - len(FIRST)
    return 1 + LAST.index(name) if name in LAST else 0


def _operation(method: str, path: str, operation: Schema, schemas: Schema, *, address: str) -> str:
    text = escape(operation.get("description", operation.get("summary", "")))
    parts = [_parameters(operation, schemas), _body(operation, schemas), _answers(operation)]
    condition = MODEL if "OpenAI" in operation["tags"] else ""
    call = escape(_curl(method, path, operation, address))
    return (
        f'<details class="route"><summary><b class="{method}">{method.upper()}</b> <code>{escape(path)}</code>'
        f"<span>{text.partition('.')[0]}</span></summary><p>{text}</p>{''.join(parts)}"
        f"<h4>Try{condition}</h4><pre>{call}</pre>{_example(operation)}</details>"
    )


def _example(operation: Schema) -> str:
    """Render the example of the answer, indented if it is JSON."""
    for answer in operation["responses"].values():
        for content in answer.get("content", {}).values():
            if "example" in content:
                of = " of a larger memory" if operation["operationId"] in FROM_THE_WIRE else ""
                return f'<h4>Answer{of}</h4><pre class="answer">{escape(_text(content["example"]))}</pre>'
    return ""


def _text(example: Any) -> str:
    return example if isinstance(example, str) else orjson.dumps(example, option=orjson.OPT_INDENT_2).decode()


def _parameters(operation: Schema, schemas: Schema) -> str:
    rows = [
        (each["name"], f"{each['in']}, {_kind(each['schema'], schemas)}", each.get("description", ""))
        for each in operation.get("parameters", ())
    ]
    return _table("Parameters", rows)


def _body(operation: Schema, schemas: Schema) -> str:
    schema = _body_schema(operation)
    if schema is None:
        return ""
    return _table(f"Body: {_kind(schema, schemas)}", _fields(_resolved(schema, schemas), schemas))


def _body_schema(operation: Schema) -> Schema | None:
    schema: Schema | None = (
        operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    )
    return schema


def _answers(operation: Schema) -> str:
    rows = []
    for status, answer in operation["responses"].items():
        schemas = [each["schema"] for each in answer.get("content", {}).values() if "schema" in each]
        schema: Schema = schemas[0] if schemas else {}
        rows.append((status, _kind(schema, {}) if schema else "", answer.get("description", "")))
    return _table("Answers", rows)


def _shape(name: str, schema: Schema, schemas: Schema) -> str:
    text = escape(schema.get("description", ""))
    table = _table("", _fields(schema, schemas))
    head = f'<details class="shape" id="{escape(name)}"><summary><code>{escape(name)}</code></summary>'
    return f"{head}<p>{text}</p>{table}</details>"


def _fields(schema: Schema, schemas: Schema) -> list[tuple[str, str, str]]:
    needed = schema.get("required", ())
    return [
        (name + ("" if name in needed else "?"), _kind(field, schemas), field.get("description", ""))
        for name, field in schema.get("properties", {}).items()
    ]


def _kind(schema: Schema, schemas: Schema) -> str:
    """Describe a schema in a few words; a reference is the name of a shape below."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " or ".join(_kind(each, schemas) for each in schema["anyOf"])
    if "enum" in schema or "const" in schema:
        return " ".join(map(str, schema.get("enum", [schema.get("const")])))
    kind = str(schema.get("type", "any"))
    if kind == "array":
        kind = f"list of {_kind(schema.get('items', {}), schemas)}"
    bounds = [
        f"{sign} {schema[name]}"
        for name, sign in (("minimum", "≥"), ("maximum", "≤"), ("maxLength", "≤"), ("maxItems", "≤"))
        if name in schema and abs(schema[name]) < 2**53
    ]
    default = f", {orjson.dumps(schema['default']).decode()}" if schema.get("default") not in (None, [], {}) else ""
    return " ".join([kind, *bounds]) + default


def _resolved(schema: Schema, schemas: Schema) -> Schema:
    resolved: Schema = schemas.get(_kind(schema, schemas), schema) if "$ref" in schema else schema
    return resolved


def _table(title: str, rows: list[tuple[str, str, str]]) -> str:
    if not rows:
        return ""
    head = f"<h4>{escape(title)}</h4>" if title else ""
    cells = [f"<tr><td><code>{escape(a)}</code></td><td>{escape(b)}</td><td>{escape(c)}</td></tr>" for a, b, c in rows]
    return f"{head}<table>{''.join(cells)}</table>"


def _curl(method: str, path: str, operation: Schema, address: str) -> str:
    verb = "" if method == "get" else f"-X {method.upper()} "
    words = [f"curl -s {verb}{quote(address + _target(path, operation))}"]
    for media, content in operation.get("requestBody", {}).get("content", {}).items():
        if (body := content.get("example")) is not None:
            flag = "-d" if media == "application/json" else "--data-binary"
            words += [f"-H {quote(f'Content-Type: {media}')}", f"{flag} {quote(_sent(body))}"]
    return " ".join(words)


def _target(path: str, operation: Schema) -> str:
    """Return the path with its parameters, and the query of a call."""
    wanted = CALLED_WITH.get(operation["operationId"], ())
    query = []
    for each in operation.get("parameters", ()):
        value = in_url(str(each.get("example", "")), safe="~")
        if each["in"] == "path":
            path = path.replace(f"{{{each['name']}}}", value)
        elif each["in"] == "query" and (each.get("required") or each["name"] in wanted):
            query.append(f"{each['name']}={value}")
    return f"{path}?{'&'.join(query)}" if query else path


def _sent(body: Any) -> str:
    return body.strip() if isinstance(body, str) else orjson.dumps(body).decode()
