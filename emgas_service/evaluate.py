"""The command `emgas measure eval`.  An image or a wheel can do without evaluation/ and this file."""

from __future__ import annotations

from evaluation.command import evaluate

__all__ = ["evaluate"]
