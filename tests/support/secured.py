"""A real broker that asks who comes (scripts/kafka start --secured), and how to come to it."""

from __future__ import annotations

import base64
import json
import os
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
ACLS = "org.apache.kafka.tools.AclCommand"


@dataclass(frozen=True)
class SecuredKafka:
    """`plain` is the listener that lets everybody do everything."""

    plain: str
    folder: Path

    @property
    def listeners(self) -> dict[str, str]:
        """Say where each listener is, by its protocol."""
        found: dict[str, str] = json.loads((self.folder / "listeners.json").read_text())
        return found

    def settings(self, protocol: str, user: str, mechanism: str | None = None, **changes: Any) -> dict[str, Any]:
        """Give the settings, without EMGAS_, that let `user` in."""
        found: dict[str, Any] = {"broker": f"kafka://{self.listeners[protocol]}", "security_protocol": protocol}
        if mechanism:
            secret = token(user) if mechanism == "OAUTHBEARER" else f"{user}-secret"
            found |= {"sasl_mechanism": mechanism, "sasl_username": user, "sasl_password": secret}
        if protocol.endswith("SSL"):
            found["ca_file"] = str(self.folder / "ca.pem")
        if protocol == "SSL":
            found["cert_file"] = str(self.folder / f"{user}.pem")
        return {**found, **changes}

    def allow(self, commands: list[str]) -> None:
        """Run what `emgas topics acls` printed, with Kafka's own tool."""
        (jars,) = (ROOT / ".cache" / "kafka").glob("jars-*[0-9a-f]")
        running = [
            subprocess.Popen(
                ["java", "-cp", f"{jars}/*", ACLS, "--bootstrap-server", self.plain, *words],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
            for words in (shlex.split(command.partition("admin.properties ")[2]) for command in commands)
        ]
        for each in running:
            said, _ = each.communicate(timeout=120)
            assert each.returncode == 0, said.decode()


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
