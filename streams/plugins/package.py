"""Optional packages: named where they are missed, with what to do."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from emgas.errors import NotInstalledError


def package(name: str) -> Any:
    """Import an optional package of the extra `dense`.  Raises NotInstalledError without it."""
    try:
        return import_module(name)
    except ImportError as error:
        raise NotInstalledError(f"this model needs {name}: pip install onnxruntime tokenizers onnx") from error
