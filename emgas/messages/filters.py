"""Filters of a query: which turns may come back."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from emgas import limits
from emgas.messages.fields import Message, Metadata, Milliseconds, Name

Names = Annotated[list[Name], Field(max_length=limits.TOP)]


class Filter(Message):
    """What a turn must be to come back; what is not given is not asked.  A name that the graph lacks matches nothing.

    sessions, speakers  it is of one of these, as they were written
    since, until        it was said in since <= at < until (ms): what counts is not the time that it speaks of
    concepts            it holds one of these, by id or as it was written
    metadata            it has these entries.  Metadata is read turn by turn, in the order of the ranking, and not
                        beyond the first 1,000: of what ranks below, nothing comes back
    exclude             turn ids that must not come back, such as those that are in the prompt already
    include_archive     whether turns that have faded may come back, behind others
    """

    sessions: Names = Field(default_factory=list)
    speakers: Names = Field(default_factory=list)
    since: Milliseconds | None = None
    until: Milliseconds | None = None
    concepts: Names = Field(default_factory=list)
    metadata: Metadata = Field(default_factory=dict)
    exclude: Annotated[list[Name], Field(max_length=limits.EXCLUDED)] = Field(default_factory=list)
    include_archive: bool = True

    @model_validator(mode="after")
    def _not_over_before_it_begins(self) -> Self:
        if self.since is not None and self.until is not None and self.until <= self.since:
            raise ValueError("`until` must be later than `since`: it is the first time that is left out")
        return self
