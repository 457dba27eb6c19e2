"""The command `emgas measure tune`.  An image or a wheel can do without evaluation/ and this file."""

from __future__ import annotations

from evaluation.tune_command import tune

__all__ = ["tune"]
