"""Google's Agent Development Kit: EmgasMemoryService stores the messages of sessions, for each user of each app."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from google.adk.events import Event
from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions import Session
from google.genai.types import Content, Part

from emgas.client.client import MemoryClient
from emgas.client.sync import Memory
from emgas.integrations.graph_names import graph_for
from emgas.integrations.remembering import Remembering
from emgas.messages.fields import Role
from emgas.messages.queries import RecalledPassage
from emgas.times import datetime_of, milliseconds


class EmgasMemoryService(BaseMemoryService):
    """Keeps a graph for each user of an app: `graph_for(app_name, user_id)`.

    An event is a turn of the same id, so a session that is added again adds what is new in it.
    """

    def __init__(self, memory: Memory | MemoryClient, *, top_k: int = 10, tolerant: bool = False) -> None:
        """`top_k`: how many memories a search finds.  `tolerant`: log what fails in the memory, and go on."""
        self._remembering, self._top_k = Remembering(memory, tolerant), top_k

    async def add_session_to_memory(self, session: Session) -> None:
        await self.add_events_to_memory(
            app_name=session.app_name, user_id=session.user_id, events=session.events, session_id=session.id
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        for event in events:
            role: Role = "user" if event.author == "user" else "assistant"
            await self._remembering.record(
                graph_for(app_name, user_id),
                _text(event.content),
                speaker=event.author or role,
                session=session_id or "main",
                role=role,
                id=event.id or None,
                at=int(event.timestamp * 1000),
            )

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        for memory in memories:
            await self._remembering.record(
                graph_for(app_name, user_id),
                _text(memory.content),
                speaker=memory.author or "user",
                id=memory.id,
                at=None if memory.timestamp is None else _milliseconds(memory.timestamp),
            )

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        passages = await self._remembering.passages(graph_for(app_name, user_id), query, top_passages=self._top_k)
        return SearchMemoryResponse(memories=[_entry(passage) for passage in passages])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        if memory_id:
            await self._remembering.forget(graph_for(app_name, user_id), turns=[memory_id])


def _text(content: Content | None) -> str:
    """Return the text of an event, without thoughts, calls and pictures."""
    parts = content.parts or [] if content is not None else []
    return "\n".join(part.text for part in parts if part.text and not part.thought)


def _milliseconds(timestamp: str) -> int:
    """Parse a time of this framework; without a zone, it is in the machine's zone."""
    return milliseconds(datetime.fromisoformat(timestamp).astimezone())


def _entry(passage: RecalledPassage) -> MemoryEntry:
    role = "user" if passage.role == "user" else "model"
    return MemoryEntry(
        id=passage.id,
        author=passage.speaker,
        timestamp=datetime_of(passage.at).isoformat(),
        content=Content(role=role, parts=[Part(text=passage.text)]),
        custom_metadata={"session": passage.session, "score": passage.score},
    )
