"""The advisor that EMGAS_ADVISOR names: the server of a model, or a plug-in of yours.  Without it, there is none.

EMGAS_ADVISOR=https://host/v1           a server of OpenAI's API: EMGAS_ADVISOR_MODEL, EMGAS_ADVISOR_KEY_FILE,
EMGAS_ADVISOR_OPTIONS (JSON: {"temperature": 0})
EMGAS_ADVISOR=package.module.name       called without arguments, returns an Advisor
(processors/advice/advisor.py)
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from emgas.errors import BadSettingError
from processors.advice.advisor import Advisor
from streams.plugins.advisor_client import AdvisorClient, Budget


class AdvisorSettings(Protocol):
    """The settings that name an advisor (streams/settings.py)."""

    @property
    def advisor(self) -> str | None: ...
    @property
    def advisor_model(self) -> str: ...
    @property
    def advisor_key_file(self) -> Path | None: ...
    @property
    def advisor_options(self) -> dict[str, Any]: ...
    @property
    def advisor_deadline(self) -> float: ...
    @property
    def advisor_calls(self) -> int: ...
    @property
    def advisor_tokens(self) -> int: ...


def chosen(
    settings: AdvisorSettings, monotonic: Callable[[], float], count: Callable[[str, str], object] = lambda *_: None
) -> AdvisorClient | None:
    """Build the client of the configured advisor, None without one.  Raises BadSettingError when it cannot be used."""
    if not settings.advisor:
        return None
    advisor = _served(settings) if "://" in settings.advisor else _loaded(settings.advisor)
    budget = Budget(settings.advisor_calls, settings.advisor_tokens, monotonic)
    return AdvisorClient(advisor, budget, deadline=settings.advisor_deadline, count=count)


def _served(settings: AdvisorSettings) -> Advisor:
    from streams.plugins.openai_advisor import OpenAIAdvisor, key_in  # here: only this advisor needs it

    if not settings.advisor_model:
        raise BadSettingError("EMGAS_ADVISOR names a server: name the model as well, by EMGAS_ADVISOR_MODEL")
    key = key_in(settings.advisor_key_file)
    return OpenAIAdvisor(settings.advisor or "", settings.advisor_model, key, settings.advisor_options)


def _loaded(path: str) -> Advisor:
    module, _, name = path.rpartition(".")
    try:
        advisor: Advisor = getattr(import_module(module), name)()
        _ = advisor.name, advisor.advise, advisor.close
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise BadSettingError(
            f"EMGAS_ADVISOR={path} names no advisor ({error}): name a server (https://…), or an importable "
            "package.module.name that is called without arguments and returns what processors/advice/advisor.py tells"
        ) from error
    return advisor
