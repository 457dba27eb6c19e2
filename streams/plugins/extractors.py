"""Load the extractor of a worker: YAKE, or the one that EMGAS_EXTRACTOR names.

    EMGAS_EXTRACTOR=package.module.name     called with the language (ISO 639-1), returns an Extractor
                                            (processors/extraction/extractor.py)
    EMGAS_WORDS=file                        its lines are the second argument, which is left out without it

The log records its results with its version, so another extractor changes nothing that is already remembered: to
extract again, make a branch (replay/branch.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from types import ModuleType

from emgas.errors import BadSettingError
from processors.extraction.extractor import Extractor


def load(path: str, language: str, words: Sequence[str] = ()) -> Extractor:
    """Load the extractor that `path` names.

    words   Chinese words that its dictionary lacks

    Raises BadSettingError when there is none.
    """
    module, _, name = path.rpartition(".")
    try:
        made: Extractor = getattr(_imported(module or path), name)(language, *([words] if words else []))
        _ = made.version, made.of_turn, made.of_query
    except ValueError as error:
        raise BadSettingError(f"EMGAS_EXTRACTOR={path}, EMGAS_LANGUAGE={language}: {error}") from error
    except (ImportError, AttributeError, TypeError) as error:
        raise BadSettingError(
            f"EMGAS_EXTRACTOR={path} names no extractor ({error}): name an importable package.module.name that is "
            "called with a language (and the words of EMGAS_WORDS) and returns what processors/extraction/extractor.py "
            "describes"
        ) from error
    return made


def warm_up(extractor: Extractor) -> None:
    """Load the dictionaries of an extractor, so that no turn or question has to wait for them."""
    extractor.of_turn("warm up 热身", speaker="user", at=0)
    extractor.of_query("warm 热身")


def _imported(module: str) -> ModuleType:
    """Import `module`.  In a wheel, where the layers lie in a package of ours (hatch_build.py), look there first."""
    home = __name__.partition("streams.")[0]
    with suppress(ModuleNotFoundError):
        if home:
            return import_module(home + module)
    return import_module(module)
