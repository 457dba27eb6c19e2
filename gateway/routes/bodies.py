"""Bodies of requests: the wire's messages without the fields that are in the path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, BaseModel, Field, create_model

from emgas.limits import BATCH_TURNS, TEXT_BYTES, utf8
from emgas.messages.extracts import Extract
from emgas.messages.fields import Message, Name
from emgas.messages.queries import Query
from emgas.messages.turns import Turn


def without(model: type[Message], name: str, *left_out: str) -> type[BaseModel]:
    """Build the model `name`: `model` without the fields `left_out`; bounds and defaults stay."""
    fields = {
        field: (info.annotation if not info.metadata else Annotated[info.annotation, *info.metadata], info)
        for field, info in model.model_fields.items()
        if field not in left_out
    }
    body: type[BaseModel] = create_model(name, __base__=Message, __doc__=model.__doc__, **fields)  # type: ignore[call-overload]
    return body


def of_any_length(model: type[BaseModel]) -> type[BaseModel]:
    """Let `text` be longer than one turn's: the gateway stores it in pieces (emgas/pieces.py)."""
    what = f"over {TEXT_BYTES // 1024} KiB, it is stored as several turns, id, id/1, id/2 …, which you forget together"
    text: dict[str, object] = {"text": (Annotated[str, AfterValidator(utf8)], Field(description=what))}
    changed: type[BaseModel] = create_model(model.__name__, __base__=model, __doc__=model.__doc__, **text)  # type: ignore[call-overload]
    return changed


def named_later(model: type[BaseModel]) -> type[BaseModel]:
    """Make `id` optional: the header Idempotency-Key can set it instead."""
    fields: dict[str, object] = {"id": (Name | None, Field(None, description="else the header Idempotency-Key"))}
    changed: type[BaseModel] = create_model(model.__name__, __base__=model, __doc__=model.__doc__, **fields)  # type: ignore[call-overload]
    return changed


if TYPE_CHECKING:  # no type checker can follow what is made from the wire's models
    TurnBody = BaseModel
    TurnsBody = BaseModel
    QueryBody = BaseModel
    ExtractBody = Extract
else:
    TurnBody = named_later(of_any_length(without(Turn, "TurnBody", "graph")))
    TurnsBody = create_model(
        "TurnsBody",
        __base__=Message,
        turns=(list[of_any_length(without(Turn, "BatchTurn", "graph"))], Field(min_length=1, max_length=BATCH_TURNS)),
    )
    QueryBody = without(Query, "QueryBody", "graph", "kind")
    ExtractBody = without(Extract, "ExtractBody", "kind")
