"""The command `emgas eval`.  A file of its own, so that an image or a wheel can do without evaluation/ and this."""

from __future__ import annotations

from evaluation.command import evaluate

__all__ = ["evaluate"]
