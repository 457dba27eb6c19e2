"""A real broker that asks who comes (scripts/kafka start --secured), and how to come to it."""

from __future__ import annotations

import argparse
import base64
import json
import os
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class SecuredKafka:
    """`plain` is the listener that lets everybody do everything."""

    plain: str
    folder: Path

    @property
    def listeners(self) -> dict[str, str]:
        """Say where each listener is, by its protocol."""
        listeners: dict[str, str] = json.loads((self.folder / "listeners.json").read_text())
        return listeners

    def settings(self, protocol: str, user: str, mechanism: str | None = None, **changes: Any) -> dict[str, Any]:
        """Give the settings, without EMGAS_, that let `user` in."""
        settings: dict[str, Any] = {"broker": f"kafka://{self.listeners[protocol]}", "security_protocol": protocol}
        if mechanism:
            secret = token(user) if mechanism == "OAUTHBEARER" else f"{user}-secret"
            settings |= {"sasl_mechanism": mechanism, "sasl_username": user, "sasl_password": secret}
        if protocol.endswith("SSL"):
            settings["ca_file"] = str(self.folder / "ca.pem")
        if protocol == "SSL":
            settings["cert_file"] = str(self.folder / f"{user}.pem")
        return {**settings, **changes}

    def allow(self, commands: list[str]) -> None:
        """Do what the commands say that `emgas topics acls` printed; kafka-acls.sh itself is not in the test's jars."""
        bindings = [binding for command in commands for binding in _bindings(command)]
        admin = AdminClient({"bootstrap.servers": self.plain})
        for done in admin.create_acls(bindings, request_timeout=30).values():
            done.result()


def _bindings(command: str) -> Iterator[AclBinding]:
    tool = argparse.ArgumentParser(exit_on_error=False)
    tool.add_argument("--add", action="store_true", required=True)
    for name in ("--bootstrap-server", "--command-config", "--allow-principal"):
        tool.add_argument(name, required=True)
    for name in ("--operation", "--topic", "--group"):
        tool.add_argument(name, action="append", default=[])
    arguments = tool.parse_args(shlex.split(command)[1:])
    named = [(ResourceType.TOPIC, name) for name in arguments.topic] + [
        (ResourceType.GROUP, name) for name in arguments.group
    ]
    for (kind, name), operation in product(named, arguments.operation):
        does = AclOperation[re.sub(r"(?<=[a-z])(?=[A-Z])", "_", operation).upper()]
        literal, who = ResourcePatternType.LITERAL, arguments.allow_principal
        yield AclBinding(kind, name, literal, who, "*", does, AclPermissionType.ALLOW)


def token(user: str) -> str:
    """Make a token that nobody signed: this broker believes who says so."""
    claims = {"sub": user, "iat": int(time.time()), "exp": int(time.time()) + 3600}
    parts = (json.dumps(part).encode() for part in ({"alg": "none"}, claims))
    return ".".join((*(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts), ""))


def can_start() -> bool:
    return all(shutil.which(program) for program in ("java", "mvn", "openssl"))


@contextmanager
def secured_kafka() -> Iterator[SecuredKafka]:
    """Start a broker of our own; stop it when the block ends."""
    name = f"test-{os.getpid()}"  # scripts/test ends what is left of a process that is gone
    command = [ROOT / "scripts/kafka", "start", "--secured", "--name", name]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=300)
        assert run.returncode == 0, run.stderr
        folder = ROOT / ".cache" / "kafka" / "clusters" / name / "security"
        yield SecuredKafka(run.stdout.splitlines()[-1], folder)
    finally:
        subprocess.run([ROOT / "scripts/kafka", "stop", "--wipe", "--name", name], capture_output=True, timeout=60)
