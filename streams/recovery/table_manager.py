"""Faust 0.15.3's table recovery without five habits that hurt: `App(TableManager=PromptTableManager)`.

It sleeps 1.0 s in TableManager.on_start (tables/manager.py:140) so that agents can register their topics.  The
conductor subscribes only after agents *and* tables are registered (transport/conductor.py:321-328), and agents are
started before tables (app/base.py:268-285), so nothing depends on the sleep.

It takes a broker call that exceeds `broker_request_timeout` for a request to stop (tables/recovery.py:612-617: mode's
wait_first reports a timeout as `stopped`) and ends the recovery service at debug level: the worker lives on and never
becomes ready, not even after the next rebalance.  Here that is an error, which stops the worker.

It crashes where a rebalance changes what is assigned under a step that is under way: a standby that has come in between
has no offset yet to seek to (tables/recovery.py:765).  Here the step fails for nothing: the next recovery has begun.

It empties the queue of fetched changelog records whenever it resumes the flow (mode/utils/queues.py: `resume` clears),
and the last time it does so is when the actives are recovered and claimed (tables/recovery.py:659), while its standbys
are being fetched.  The lost records are not read again: a standby stops there, because a fold cannot skip a hole, and
the next owner must fold all the rest.  Here the queue is emptied once, when partitions are taken away.

It folds what is buffered when it stops (tables/recovery.py:214, app/base.py:1732).  Where an event cannot be folded,
that raises, and the services behind it never stop.  Here it is left out: the log has it.
"""

from __future__ import annotations

from typing import Any

from faust.tables import TableManager
from faust.tables.recovery import RebalanceAgain, Recovery, ServiceStopped
from faust.types import TP
from mode.services import WaitArgT
from mode.utils.queues import ThrowableQueue
from mode.utils.times import Seconds


class LoudRecovery(Recovery):
    """Raises TimeoutError where Faust's recovery would end silently."""

    async def _wait(self, coro: WaitArgT, timeout: Seconds | None = None) -> None:
        try:
            result = await self.wait_first(coro, self.signal_recovery_start, timeout=timeout)  # type: ignore[arg-type]
        except Exception as error:
            if self.signal_recovery_start.is_set():
                raise RebalanceAgain from error
            raise
        if result.stopped and not (self.should_stop or self.crashed):
            raise TimeoutError(f"recovery waited {timeout} s in vain: is the broker up, may we read the log?")
        if result.stopped:
            raise ServiceStopped
        if self.signal_recovery_start.is_set():  # another rebalance began
            raise RebalanceAgain

    def flush_buffers(self) -> None:
        """Fold what is buffered, but not while stopping."""
        if not self.app.should_stop:
            super().flush_buffers()


class PromptTableManager(TableManager):
    """Registers the changelogs and starts recovery at once."""

    async def on_start(self) -> None:
        """Start as Faust does after its sleep."""
        await self._update_channels()
        await self.recovery.start()

    @property
    def changelog_queue(self) -> ThrowableQueue[Any]:
        """Return the queue of what was fetched of changelogs: only recovery empties it."""
        if self._changelog_queue is None:
            room = self.app.conf.stream_buffer_maxsize
            self._changelog_queue = self.app.FlowControlQueue(maxsize=room, clear_on_resume=False)
        return self._changelog_queue

    def on_partitions_revoked(self, revoked: set[TP]) -> None:
        """Fold what is buffered, then forget what was fetched: recovery reads on from where the folds stand."""
        super().on_partitions_revoked(revoked)
        self.changelog_queue.clear()

    @property
    def recovery(self) -> Recovery:
        """Return the recovery service of this app."""
        if self._recovery is None:
            self._recovery = LoudRecovery(self.app, self, beacon=self.beacon, loop=self.loop)
        return self._recovery
