"""scripts/kafka says what it wants, and gives a real broker where Java and Maven are."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NAME = f"deploy-{os.getpid()}"


def kafka(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([ROOT / "scripts/kafka", *arguments], capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize(
    "arguments",
    [["restart"], [], ["start", "--brokers", "2"], ["start", "--port", "65536"], ["stop", "--name", "../up"]],
    ids=["an unknown verb", "no verb", "two brokers", "no such port", "a name that is a path"],
)
def test_a_wrong_call_is_refused_with_the_usage(arguments: list[str]) -> None:
    run = kafka(*arguments)
    assert run.returncode == 2
    assert run.stderr.startswith("usage: scripts/kafka")
    assert run.stdout == ""


def test_a_cluster_that_never_was_does_not_answer() -> None:
    assert kafka("status", "--name", "never-was").returncode == 3


def test_stopping_what_does_not_run_is_no_error() -> None:
    assert kafka("stop", "--wipe", "--name", "never-was").returncode == 0


def test_a_missing_java_is_named_with_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    run = kafka("start", "--name", NAME)
    assert run.returncode == 1
    assert f"no java in JAVA_HOME ({tmp_path})" in run.stderr


@pytest.fixture
def own_cluster() -> Iterator[str]:
    if not (shutil.which("java") and shutil.which("mvn")):
        pytest.skip("needs Java and Maven")
    yield NAME
    kafka("stop", "--wipe", "--name", NAME)


def started(*arguments: str) -> str:
    """Return the bootstrap address: the last line on stdout."""
    run = kafka("start", *arguments)
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()[-1]


def far_port() -> str:
    """Return a free port above those that are tried first: meanwhile, no broker of another test takes it."""
    for port in range(9400, 9500):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)):
                return str(port)
    raise AssertionError("every port from 9400 to 9499 is taken")


def node_pid(name: str) -> int:
    results = re.search(r"node 1 .* pid (\d+)", kafka("status", "--name", name).stdout)
    assert results
    return int(results[1])


@pytest.mark.kafka
@pytest.mark.slow
def test_a_broker_is_started_once_comes_back_after_a_kill_and_is_gone_after_stop(own_cluster: str) -> None:
    address = started("--name", own_cluster)
    assert re.fullmatch(r"127\.0\.0\.1:\d+", address)
    first = node_pid(own_cluster)

    assert started("--name", own_cluster) == address
    assert node_pid(own_cluster) == first

    os.kill(first, signal.SIGKILL)
    assert started("--name", own_cluster) == address
    assert node_pid(own_cluster) != first

    assert kafka("stop", "--name", own_cluster).returncode == 0
    assert kafka("status", "--name", own_cluster).returncode == 3


@pytest.mark.kafka
@pytest.mark.slow
def test_a_port_that_is_taken_is_not_taken_twice(own_cluster: str) -> None:
    address = started("--name", own_cluster)
    port = address.rpartition(":")[2]
    second = kafka("start", "--name", f"{own_cluster}-b", "--port", port)
    assert second.returncode == 1
    assert f"port {port} is taken" in second.stderr


@pytest.mark.kafka
@pytest.mark.slow
def test_a_stopped_cluster_does_not_pass_another_on_its_port_for_itself(own_cluster: str) -> None:
    port = far_port()
    started("--name", own_cluster, "--port", port)
    kafka("stop", "--name", own_cluster)
    other = f"{own_cluster}-b"
    try:
        started("--name", other, "--port", port)
        assert kafka("status", "--name", own_cluster).returncode == 3
    finally:
        kafka("stop", "--wipe", "--name", other)
