"""Turn settings of a file and of the command line into environment variables, which all other code reads.

    emgas --broker … --data …    before    EMGAS_*    before    the file: --config FILE, else EMGAS_CONFIG, else
                                                                 config.toml in the platform's directory for it

    broker = "kafka://localhost:9092"        # config.toml: EMGAS_BROKER, in small letters and without EMGAS_
    health = 9100

Unknown names are reported with the closest known name: as an error in a file, as a warning in the environment, because
another program may have set it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import platformdirs

from streams.cli.shared import output

FILE = "config.toml"
OF_COMMANDS = {
    "config",
    "key",
    "keys",
    "model_url",
    "model_key",
    "connections",
    "connections_per_peer",
    "otel",
    "timeout",
    "fail_at",
}
OF_COMPOSE = {"kafka_port", "http_port", "keys_file"}
OF_TESTS = {"simulations", "fuzz_cases", "helm"}
TESTS = ("test_", "require_")  # with which names begin that only tests and scripts read


def setting_names() -> set[str]:
    """Return every variable that EMGAS reads, in small letters and without EMGAS_."""
    from streams.settings import WorkerSettings  # here: --help needs none of it

    return set(WorkerSettings.model_fields) | OF_COMMANDS | OF_COMPOSE | OF_TESTS


def apply(*, broker: str | None, data: Path | None, config: Path | None) -> None:
    """Write the options of the command line and the file into the environment, or exit with an error."""
    _tell_misspelt(os.environ)
    for name, value in _of_file(config).items():
        os.environ.setdefault(name, value)
    output.timeout()  # here: Typer's error would name the option, which nobody gave
    if broker is not None:
        os.environ["EMGAS_BROKER"] = broker
    if data is not None:
        os.environ["EMGAS_DATA"] = str(data)
        if broker is None:
            os.environ["EMGAS_BROKER"] = ""  # --data alone means the embedded log in it


def misspelt(environment: Iterable[str]) -> list[str]:
    """Return a sentence for each unknown EMGAS_ variable, with the closest known name."""
    names = sorted(name for name in environment if name.startswith("EMGAS_"))
    plain = {name: name.removeprefix("EMGAS_").lower() for name in names}
    unknown = (name for name in names if plain[name] not in setting_names() and not plain[name].startswith(TESTS))
    return [f"{name} is not a setting{_meant(name)}" for name in unknown]


def _tell_misspelt(environment: Iterable[str]) -> None:
    for sentence in misspelt(environment):
        output.doubt(sentence)


def _meant(name: str, *, in_file: bool = False) -> str:
    near = get_close_matches(name.upper().removeprefix("EMGAS_"), [each.upper() for each in setting_names()], n=1)
    meant = [each.lower() if in_file else f"EMGAS_{each}" for each in near]
    return f": did you mean {meant[0]}?" if meant else ""


def _of_file(file: Path | None) -> Mapping[str, str]:
    """Read the file that is named, or the usual one where it is; as variables."""
    named = file or Path(os.environ.get("EMGAS_CONFIG") or "")
    path = named if named.name else Path(platformdirs.user_config_dir("emgas", appauthor=False)) / FILE
    if not named.name and not path.is_file():
        return {}
    import tomllib  # here: few have a file

    try:
        settings = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        output.fail_path("read", path, error)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        output.fail(f"{path} is not valid TOML: {error}", output.USAGE)
    return {_variable(path, name): _text(path, name, value) for name, value in settings.items()}


def _variable(path: Path, name: str) -> str:
    variable = f"EMGAS_{name.upper().replace('-', '_')}"
    if variable.removeprefix("EMGAS_").lower() not in setting_names():
        output.fail(f"{path}: {name} is not a setting{_meant(variable, in_file=True)}", output.USAGE)
    return variable


def _text(path: Path, name: str, value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(str, value))
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        output.fail(f"{path}: {name} must be text, a number or a list", output.USAGE)
    return str(value)
