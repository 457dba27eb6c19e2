"""Encoders of photos, sounds and films: plug-ins that EMGAS_ENCODERS names, each `package.module.name`, with commas.

The named object is called without arguments and returns an AttachmentEncoder (answer/perceptual.py).  The encoder must
read the file at an address: EMGAS fetches nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module

from emgas.errors import BadSettingError
from processors.recall.answer.perceptual import AttachmentEncoder


def chosen(paths: Iterable[str]) -> tuple[AttachmentEncoder, ...]:
    """Load the encoders of these names.  Raises BadSettingError when one cannot be used."""
    return tuple(_loaded(path) for path in paths)


def _loaded(path: str) -> AttachmentEncoder:
    module, _, name = path.rpartition(".")
    try:
        encoder: AttachmentEncoder = getattr(import_module(module), name)()
        _ = encoder.name, encoder.version, encoder.kind, encoder.encode
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise BadSettingError(
            f"EMGAS_ENCODERS: {path} names no encoder ({error}): name an importable package.module.name that is called "
            "without arguments and returns what processors/recall/answer/perceptual.py describes"
        ) from error
    return encoder
