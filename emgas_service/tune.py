"""The command `emgas tune`.  A file of its own, so that an image or a wheel can do without evaluation/ and this."""

from __future__ import annotations

from evaluation.tune_command import tune

__all__ = ["tune"]
