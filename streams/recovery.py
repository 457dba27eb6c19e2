"""Faust 0.15.3's table recovery without three habits that hurt: `App(TableManager=PromptTableManager)`.

It sleeps 1.0 s in TableManager.on_start (tables/manager.py:140) so that agents can register their topics.  The
conductor subscribes only after agents *and* tables are registered (transport/conductor.py:321-328), and agents are
started before tables (app/base.py:268-285), so nothing depends on the sleep.

It takes a broker call that exceeds `broker_request_timeout` for a request to stop (tables/recovery.py:612-617: mode's
wait_first reports a timeout as `stopped`) and ends the recovery service at debug level: the worker lives on and never
becomes ready, not even after the next rebalance.  Here that is an error, which stops the worker.

It folds what is buffered when it stops (tables/recovery.py:214, app/base.py:1732).  Where an event cannot be folded,
that raises, and the services behind it never stop.  Here it is left out: the log has it.
"""

from __future__ import annotations

from faust.tables import TableManager
from faust.tables.recovery import RebalanceAgain, Recovery, ServiceStopped
from mode.services import WaitArgT
from mode.utils.times import Seconds


class LoudRecovery(Recovery):
    """Raises TimeoutError where Faust's would end without a word."""

    async def _wait(self, coro: WaitArgT, timeout: Seconds | None = None) -> None:
        result = await self.wait_first(coro, self.signal_recovery_start, timeout=timeout)  # type: ignore[arg-type]
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
        """Do what Faust does after its sleep."""
        await self._update_channels()
        await self.recovery.start()

    @property
    def recovery(self) -> Recovery:
        """Return the recovery service of this app."""
        if self._recovery is None:
            self._recovery = LoudRecovery(self.app, self, beacon=self.beacon, loop=self.loop)
        return self._recovery
