"""Bodies and answers of mem0's API, field by field.

Fields that would instruct a model have no effect, because there is none.  Unknown fields are refused.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from emgas.limits import TOP
from emgas.messages.fields import Message


class Mem0Message(BaseModel):
    """A message as in OpenAI's API.  Only the text parts of its content count."""

    model_config = ConfigDict(extra="ignore")
    role: str = "user"
    content: str | list[dict[str, Any]] | None = None
    name: str | None = None

    @property
    def text(self) -> str:
        """Join the text parts of the content."""
        if isinstance(self.content, list):
            return "\n".join(part["text"] for part in self.content if isinstance(part.get("text"), str))
        return self.content or ""


class Whose(Message):
    """Whose memory, in mem0's form: at the top of a body, or in `filters`."""

    user_id: str | None = None
    agent_id: str | None = None
    app_id: str | None = None
    run_id: str | None = None
    filters: dict[str, Any] | None = None


class AddBody(Whose):
    """Messages to record.  `timestamp`: seconds since 1970.  `expiration_date`: their last day, as 2030-01-31 (UTC).

    Instructions to a model have no effect: there is none.
    """

    messages: list[Mem0Message]
    metadata: dict[str, Any] | None = None
    timestamp: int | float | None = None
    expiration_date: str | None = Field(None, pattern=r"^\d{4}-\d{2}-\d{2}$")
    infer: Any = None
    version: Any = None
    output_format: Any = None
    async_mode: Any = None
    custom_categories: Any = None
    custom_instructions: Any = None
    agent_custom_instructions: Any = None
    structured_data_schema: Any = None


class SearchBody(Whose):
    """A question.  `rerank`, `keyword_search` and similar fields have no effect: there is one way to search."""

    query: str
    top_k: int = Field(10, ge=1, le=TOP)
    threshold: float | None = Field(None, description="results with a lower score are left out")
    metadata: dict[str, Any] | None = None
    rerank: Any = None
    keyword_search: Any = None
    latest_only: Any = None
    version: Any = None
    output_format: Any = None


class ListBody(Whose):
    """Which memories to list.  `start_date`, `end_date`: ISO 8601, inclusive."""

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
    expiration_date: str | None = None
    score: float | None = None


class AddedMemory(BaseModel):
    """The outcome of a message."""

    id: str
    memory: str
    event: str = "ADD"


class Added(BaseModel):
    """The memories that were added.  Nothing is pending."""

    status: str = "SUCCEEDED"
    results: list[AddedMemory]


class SearchResults(BaseModel):
    """The memories that answer a question, best first."""

    results: list[Kept]


class Listed(SearchResults):
    """A page of memories, the newest first."""

    count: int
    next: str | None = None
    previous: str | None = None


class Entity(BaseModel):
    """A user, agent, app or run that has memories."""

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


class Deleted(BaseModel):
    """mem0's confirmation.  `kept`: what the log still holds of the deleted content, and how to erase it."""

    message: str
    kept: str


class Pinged(BaseModel):
    """A sign of life.  mem0's clients need the names of an organisation and a project; there is one of each."""

    status: str = "ok"
    org_id: str = "emgas"
    project_id: str = "emgas"
    user_email: str | None = None
