"""What mem0's clients send, and what they read: bodies and answers, field by field.

A field that would instruct a model has no effect, for there is none; one that promises something else is not known
here, and so refused: `expiration_date`.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from emgas.limits import TOP
from emgas.messages.fields import Message


class Said(BaseModel):
    """A message as OpenAI's API has it.  Of a content in parts, the texts count."""

    model_config = ConfigDict(extra="ignore")
    role: str = "user"
    content: str | list[dict[str, Any]] | None = None
    name: str | None = None

    @property
    def text(self) -> str:
        """Its text."""
        if isinstance(self.content, list):
            return "\n".join(part["text"] for part in self.content if isinstance(part.get("text"), str))
        return self.content or ""


class Whose(Message):
    """Whose memory, as mem0 says it: at the top of a body, or in `filters`."""

    user_id: str | None = None
    agent_id: str | None = None
    app_id: str | None = None
    run_id: str | None = None
    filters: dict[str, Any] | None = None


class AddBody(Whose):
    """What was said.  `timestamp`: seconds since 1970.  What instructs a model has no effect: there is none."""

    messages: list[Said]
    metadata: dict[str, Any] | None = None
    timestamp: int | float | None = None
    infer: Any = None
    version: Any = None
    output_format: Any = None
    async_mode: Any = None
    custom_categories: Any = None
    custom_instructions: Any = None
    agent_custom_instructions: Any = None
    structured_data_schema: Any = None


class SearchBody(Whose):
    """A question.  `rerank`, `keyword_search` and their kin have no effect: there is one way to search."""

    query: str
    top_k: int = Field(10, ge=1, le=TOP)
    threshold: float | None = Field(None, description="scores that are lower are left out")
    metadata: dict[str, Any] | None = None
    rerank: Any = None
    keyword_search: Any = None
    latest_only: Any = None
    version: Any = None
    output_format: Any = None


class ListBody(Whose):
    """Which memories are wanted.  `start_date`, `end_date`: ISO 8601, both included."""

    start_date: str | None = None
    end_date: str | None = None
    latest_only: Any = None
    version: Any = None
    output_format: Any = None


class Kept(BaseModel):
    """A memory."""

    id: str
    memory: str
    user_id: str | None = None
    agent_id: str | None = None
    app_id: str | None = None
    run_id: str | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)
    categories: list[str] = Field(default_factory=list)
    created_at: str
    updated_at: str
    score: float | None = None


class Event(BaseModel):
    """What became of a message."""

    id: str
    memory: str
    event: str = "ADD"


class Added(BaseModel):
    """What was added: nothing is pending."""

    status: str = "SUCCEEDED"
    results: list[Event]


class Found(BaseModel):
    """What a question brought back, best first."""

    results: list[Kept]


class Listed(Found):
    """A page of memories, the newest first."""

    count: int
    next: str | None = None
    previous: str | None = None


class Entity(BaseModel):
    """Somebody, or something, that has memories."""

    id: str
    name: str
    type: str
    total_memories: int
    updated_at: str


class Entities(BaseModel):
    """A page of entities."""

    count: int
    next: str | None = None
    previous: str | None = None
    results: list[Entity]


class Change(BaseModel):
    """What happened to a memory: it was added, once."""

    id: str
    memory_id: str
    old_memory: str | None = None
    new_memory: str
    event: str = "ADD"
    created_at: str
    updated_at: str


class Told(BaseModel):
    """A sentence, as mem0 says it.  `kept`: what this memory keeps of what was deleted, and how to erase it."""

    message: str
    kept: str


class Pinged(BaseModel):
    """That somebody listens.  mem0's clients want the names of an organisation and a project; there is one of each."""

    status: str = "ok"
    org_id: str = "emgas"
    project_id: str = "emgas"
    user_email: str | None = None
