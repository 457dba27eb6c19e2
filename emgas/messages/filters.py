"""Filters of a query: which turns may come back."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from emgas import limits
from emgas.messages.fields import EntityKind, Message, Metadata, Milliseconds, Modality, Name, Origin, Role

Names = Annotated[list[Name], Field(max_length=limits.TOP)]


class Filter(Message):
    """What a turn must be to come back; what is not given is not asked.  A name that the graph lacks matches nothing.

    sessions, speakers  it is of one of these, as they were written
    roles               its role is one of these: a turn without a role passes none
    origins             its text comes from one of these; a turn without an origin has that of its role
    without_origins     its text comes from none of these
    since, until        it was said in since <= at < until (ms): what counts is not the time that it speaks of
    min_importance      at least this importance; 0.5 if unknown, and 1 for pinned turns
    pinned              whether a user pinned it
    concepts            it holds one of these, by id or as it was written
    entities            it names something of one of these kinds: a person, a place
    statements          it states a fact of one of these slots or relations: home, job, lives-in
    metadata            it has all of these entries, whatever they are
    spoken_since, spoken_until  it speaks of a time in since <= time < until (ms): "last week", as it is resolved
    exclude             turn ids that must not come back, such as those that are in the prompt already
    modality            something of one of these kinds came with it
    include_archive     whether turns that have faded may come back, behind others
    """

    sessions: Names = Field(default_factory=list)
    speakers: Names = Field(default_factory=list)
    roles: Annotated[list[Role], Field(max_length=4)] = Field(default_factory=list, exclude_if=lambda roles: not roles)
    origins: Annotated[list[Origin], Field(max_length=4)] = Field(default_factory=list, exclude_if=lambda it: not it)
    without_origins: Annotated[list[Origin], Field(max_length=4)] = Field(
        default_factory=list, exclude_if=lambda it: not it
    )
    min_importance: float | None = Field(None, ge=0, le=1, exclude_if=lambda least: least is None)
    pinned: bool | None = Field(None, exclude_if=lambda pinned: pinned is None)
    since: Milliseconds | None = None
    until: Milliseconds | None = None
    concepts: Names = Field(default_factory=list)
    entities: Annotated[list[EntityKind], Field(max_length=4)] = Field(
        default_factory=list, exclude_if=lambda it: not it
    )
    statements: Names = Field(default_factory=list, exclude_if=lambda it: not it)
    metadata: Metadata = Field(default_factory=dict)
    spoken_since: Milliseconds | None = Field(None, exclude_if=lambda since: since is None)
    spoken_until: Milliseconds | None = Field(None, exclude_if=lambda until: until is None)
    exclude: Annotated[list[Name], Field(max_length=limits.EXCLUDED)] = Field(default_factory=list)
    modality: Annotated[list[Modality], Field(max_length=4)] = Field(
        default_factory=list, exclude_if=lambda kinds: not kinds
    )
    include_archive: bool = True

    @model_validator(mode="after")
    def _not_over_before_it_begins(self) -> Self:
        for since, until in ((self.since, self.until), (self.spoken_since, self.spoken_until)):
            if since is not None and until is not None and until <= since:
                raise ValueError("`until` must be later than `since`: it is the first time that is left out")
        return self

    @property
    def asks_facts(self) -> bool:
        """Check whether the filter needs the turns themselves: their metadata, facts or times."""
        return bool(self.metadata or self.statements) or self.spoken_since is not None or self.spoken_until is not None
