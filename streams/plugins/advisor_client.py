"""Ask any advisor: in batches, within a deadline and a budget, and each task only once.

    batch      tasks of one kind, BATCH at most, together at most BATCH_BYTES
    deadline   seconds until an answer counts as late: it is cut off
    budget     calls, and tokens, within any hour; tokens are estimated from the length of what is asked
    cache      the same task has the answer that it had, for as long as this process lives

The results of tasks are counted, by kind: given, cached, nothing (it was left out, or breaks the form), late,
unreachable, busy, refused, unreadable, huge, failed (an unexpected error), over-budget.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import orjson

from emgas.logs import logger
from processors.advice.advisor import AdviceContent, AdviceError, Advisor, Task, kind_of
from processors.advice.prompts import material

log = logger("advisor")
BATCH: Final = 8
BATCH_BYTES: Final = 24_000
CACHED: Final = 2048  # answers that are kept
HOUR: Final = 3600.0  # seconds
BYTES_A_TOKEN: Final = 3  # of UTF-8: a character of Chinese, and less than a word of English
PROMPT_TOKENS, ANSWER_TOKENS = 200, 150  # that a call has beside its tasks, and that each task's answer has


class OverBudgetError(AdviceError):
    """The hour's calls or tokens are used up.  seconds: until there is room again."""

    def __init__(self, seconds: float) -> None:
        super().__init__("over-budget", f"the advisor's budget is used up for {seconds:.0f} s", again=True)
        self.seconds = seconds


@dataclass
class Budget:
    """Calls and tokens that may be spent within any hour.  now: seconds since an arbitrary moment."""

    calls: int
    tokens: int
    now: Callable[[], float]
    _spent: deque[tuple[float, int]] = field(default_factory=deque)

    def spend(self, tokens: int) -> None:
        """Spend a call of so many tokens.  Raises OverBudgetError, and spends nothing, where that is too much."""
        now = self.now()
        while self._spent and self._spent[0][0] <= now - HOUR:
            self._spent.popleft()
        used = sum(each for _, each in self._spent)
        if len(self._spent) >= self.calls or (self._spent and used + tokens > self.tokens):
            raise OverBudgetError(self._spent[0][0] + HOUR - now if self._spent else HOUR)
        if tokens > self.tokens:
            raise AdviceError("over-budget", "this is more than the advisor's budget of an hour")
        self._spent.append((now, tokens))


class AdvisorClient:
    """Asks `advisor`.  count: called with (kind, what became of it) for each task."""

    def __init__(
        self,
        advisor: Advisor,
        budget: Budget,
        *,
        deadline: float,
        count: Callable[[str, str], object] = lambda kind, result: None,
    ) -> None:
        self._advisor = advisor
        self._budget = budget
        self._deadline = deadline
        self._count = count
        self._cache: OrderedDict[bytes, AdviceContent] = OrderedDict()

    @property
    def name(self) -> str:
        """The name of the advisor."""
        return self._advisor.name

    async def ask(self, tasks: Sequence[Task]) -> list[AdviceContent | None]:
        """Ask for tasks of one kind; None where there is no advice.  Raises AdviceError, of the first batch that fails.

        Answers of earlier batches stay in the cache: asking for them again costs nothing.
        """
        missing = [task for task in tasks if _key(task) not in self._cache]
        results: dict[bytes, AdviceContent | None] = {}
        for batch in _batches(missing):
            for task, answer in zip(batch, await self._ask_batch(batch), strict=True):
                results[_key(task)] = answer
                if answer is not None:
                    self._keep(_key(task), answer)
        for task in tasks:
            if _key(task) not in results:
                self._count(kind_of(task), "cached")
        return [results[key] if (key := _key(task)) in results else self._cache.get(key) for task in tasks]

    async def close(self) -> None:
        """Close the advisor."""
        await self._advisor.close()

    async def _ask_batch(self, batch: Sequence[Task]) -> Sequence[AdviceContent | None]:
        kind = kind_of(batch[0])
        try:
            self._budget.spend(estimated_tokens(batch))
            async with asyncio.timeout(self._deadline):
                answers = await self._advisor.advise(batch)
            if len(answers) != len(batch):
                raise AdviceError("unreadable", f"the advisor answers {len(answers)} times to {len(batch)} tasks")
        except TimeoutError:
            error = AdviceError("late", f"the advisor did not answer within {self._deadline:g} s", again=True)
        except AdviceError as why:
            error = why
        except Exception as why:  # of any class: advisors are plugins
            log.warning("the advisor failed", exc_info=True)
            error = AdviceError("failed", f"the advisor failed ({type(why).__name__})")
        else:
            for result, times in Counter("nothing" if each is None else "given" for each in answers).items():
                for _ in range(times):
                    self._count(kind, result)
            return answers
        for _ in batch:
            self._count(kind, error.result)
        raise error

    def _keep(self, key: bytes, answer: AdviceContent) -> None:
        self._cache[key] = answer
        while len(self._cache) > CACHED:
            self._cache.popitem(last=False)


def estimated_tokens(tasks: Sequence[Task]) -> int:
    """Estimate the tokens of a call, including its answer."""
    question_tokens = sum(len(orjson.dumps(material(task))) // BYTES_A_TOKEN + ANSWER_TOKENS for task in tasks)
    return PROMPT_TOKENS + question_tokens


def _batches(tasks: Sequence[Task]) -> list[list[Task]]:
    batches: list[list[Task]] = []
    room = 0
    for task in dict.fromkeys(tasks):
        size = len(orjson.dumps(material(task)))
        if not batches or len(batches[-1]) == BATCH or size > room:
            batches.append([])
            room = BATCH_BYTES
        batches[-1].append(task)
        room -= size
    return batches


def _key(task: Task) -> bytes:
    """Hash a task: what it is, what it is about, and what is shown of it."""
    return hashlib.sha256(repr(task).encode("utf-8", "surrogatepass")).digest()
