"""docker-compose.yml promises a worker that scales, on a Kafka that only this machine reaches."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from streams.cli.main import Commands
from streams.settings import WorkerSettings

ROOT = Path(__file__).resolve().parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]

# From the compose specification: a misspelt key is refused by compose, and must be by this test where there is none.
SERVICE_KEYS = {
    *("build", "command", "depends_on", "entrypoint", "environment", "healthcheck", "image", "init", "ports"),
    *("profiles", "restart", "stop_grace_period", "stop_signal", "user", "volumes"),
}


def compose_command() -> list[str] | None:
    for command in (["docker", "compose"], ["docker-compose"]):
        if shutil.which(command[0]) and not subprocess.run([*command, "version"], capture_output=True).returncode:
            return command
    return None


def seconds(duration: str) -> int:
    match = re.fullmatch(r"(\d+)s", duration)
    assert match, f"write {duration!r} in seconds"
    return int(match[1])


def test_compose_accepts_the_file() -> None:
    command = compose_command()
    if command is None:
        pytest.skip("neither `docker compose` nor `docker-compose` is here; the tests below check what we rely on")
    run = subprocess.run([*command, "config", "--quiet"], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_has_only_keys_that_compose_knows(name: str) -> None:
    assert set(SERVICES[name]) <= SERVICE_KEYS


@pytest.mark.parametrize("name", SERVICES)
def test_an_image_is_pinned_or_built_here(name: str) -> None:
    image, _, tag = SERVICES[name]["image"].partition(":")
    assert SERVICES[name].get("build") == "." or re.fullmatch(r"\d+\.\d+\.\d+", tag), f"{image}: pin a version"


def test_compose_runs_the_kafka_that_the_tests_run_against() -> None:
    tested = re.search(r"<kafka\.version>(.+)</kafka\.version>", (ROOT / "scripts/kafka.pom.xml").read_text())
    assert tested
    assert SERVICES["kafka"]["image"] == f"apache/kafka:{tested[1]}"


@pytest.mark.parametrize("name", ["worker", "reader"])
def test_nothing_stands_in_the_way_of_a_second_one(name: str) -> None:
    worker = SERVICES[name]
    assert not {"container_name", "ports", "hostname"} & set(worker)
    # anonymous, at the data directory: one per replica, for RocksDB allows one process per database
    assert worker["volumes"] == [worker["environment"]["EMGAS_DATA"]]


@pytest.mark.parametrize("name", ["topics", "worker", "reader", "serve"])
def test_the_command_is_one_that_emgas_has(name: str) -> None:
    emgas = Path(sys.executable).with_name("emgas")
    run = subprocess.run([emgas, *SERVICES[name]["command"], "--help"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert SERVICES[name]["command"][0] not in Commands.aliases, "a former name: write the present one"


@pytest.mark.parametrize("name", ["topics", "worker", "reader"])
def test_every_setting_is_one_that_the_service_reads(name: str) -> None:
    existing = {f"EMGAS_{field.upper()}" for field in WorkerSettings.model_fields}
    assert set(SERVICES[name]["environment"]) <= existing


def test_the_broker_setting_points_at_the_listener_for_containers(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable, value in SERVICES["worker"]["environment"].items():
        monkeypatch.setenv(variable, re.sub(r"\$\{\w+:-(\w*)\}", r"\1", value))  # what compose makes of it by default
    assert WorkerSettings().role == "all"
    bootstrap = WorkerSettings().bootstrap
    assert f"INTERNAL://{bootstrap}" in SERVICES["kafka"]["environment"]["KAFKA_ADVERTISED_LISTENERS"].split(",")


def test_topics_are_created_after_kafka_answers_and_before_a_worker_starts() -> None:
    assert SERVICES["kafka"]["healthcheck"]["test"][0] == "CMD"
    assert SERVICES["topics"]["command"] == ["admin", "topics", "create"]
    assert SERVICES["topics"]["depends_on"] == {"kafka": {"condition": "service_healthy"}}
    assert SERVICES["topics"]["restart"] == "no"  # a service that is started again never completes
    assert SERVICES["worker"]["command"] == ["worker"]
    assert SERVICES["worker"]["depends_on"]["topics"] == {"condition": "service_completed_successfully"}


def test_a_worker_that_exits_on_purpose_comes_back_and_one_that_is_stopped_may_finish() -> None:
    assert SERVICES["worker"]["restart"] in {"unless-stopped", "on-failure", "always"}
    assert seconds(SERVICES["worker"]["stop_grace_period"]) >= 40  # a worker hands over its partitions within 30 s


def test_only_this_machine_reaches_a_published_port() -> None:
    published = [port for service in SERVICES.values() for port in service.get("ports", [])]
    assert published
    assert [port for port in published if not port.startswith("127.0.0.1:")] == []


def test_kafka_tells_programs_on_this_machine_the_published_port() -> None:
    kafka = SERVICES["kafka"]
    (mapping,) = kafka["ports"]
    outside, _, inside = mapping.rpartition(":")
    listeners = dict(each.split("://") for each in kafka["environment"]["KAFKA_LISTENERS"].split(","))
    advertised = re.findall(r"(\w+)://([^,]+)", kafka["environment"]["KAFKA_ADVERTISED_LISTENERS"])
    assert listeners["HOST"] == f":{inside}"
    assert dict(advertised)["HOST"] == outside


def test_the_log_outlives_the_container() -> None:
    kafka = SERVICES["kafka"]
    volume, _, folder = kafka["volumes"][0].partition(":")
    assert volume in COMPOSE["volumes"]
    assert folder == kafka["environment"]["KAFKA_LOG_DIRS"]
    assert "CLUSTER_ID" in kafka["environment"]


def test_a_missing_file_of_keys_fails_instead_of_becoming_a_directory() -> None:
    mounted = [volume for volume in SERVICES["serve"]["volumes"] if "keys.toml" in str(volume)]
    assert [volume["target"] for volume in mounted] == ["/keys.toml"]
    assert mounted[0]["bind"] == {"create_host_path": False}
    assert SERVICES["serve"]["command"][-2:] == ["--keys", "/keys.toml"]


@pytest.mark.parametrize("page", ["docs/how-to.md", "docker-compose.yml"])
def test_a_recipe_creates_the_file_of_keys_before_it_is_mounted(page: str) -> None:
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    creates = next(n for n, line in enumerate(lines) if "docker run" in line and "--new-key me >> keys.toml" in line)
    mounts = next(n for n, line in enumerate(lines) if "docker compose --profile serve up" in line)
    assert creates < mounts


def test_kafka_creates_no_topic_by_accident() -> None:
    assert SERVICES["kafka"]["environment"]["KAFKA_AUTO_CREATE_TOPICS_ENABLE"] == "false"
