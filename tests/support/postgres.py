"""A PostgreSQL of our own, on a socket in a folder, as Debian's packages have it; it ends with the test run.

Where there is none, tests are skipped and say so; with EMGAS_REQUIRE_POSTGRES=1 (`.ci/run`) that is a failure.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

MISSING = "THERE IS NO POSTGRESQL HERE: apt-get install postgresql (Debian), or the sink is not tested against it"


def programs() -> Path | None:
    """Find the folder of initdb and postgres: Debian keeps them out of PATH."""
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    on_path = shutil.which("initdb")
    return installed[-1].parent if installed else Path(on_path).parent if on_path else None


@contextmanager
def postgres() -> Iterator[str]:
    """Run a server on no port; give the URL of its database."""
    where = programs()
    if where is None:
        if os.environ.get("EMGAS_REQUIRE_POSTGRES"):
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    user = pwd.getpwnam("postgres") if os.geteuid() == 0 else pwd.getpwuid(os.geteuid())  # it refuses to run as root
    as_user = {"user": user.pw_uid, "group": user.pw_gid} if os.geteuid() == 0 else {}
    with TemporaryDirectory(prefix="pg-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        os.chown(folder, user.pw_uid, user.pw_gid)
        data, log = f"{folder}/data", Path(folder) / "log"
        options = f"-c listen_addresses= -c unix_socket_directories={folder} -c fsync=off"

        def run(*command: str) -> None:
            with log.open("ab") as log_file:
                subprocess.run(command, check=True, stdout=log_file, stderr=log_file, cwd=folder, **as_user)  # type: ignore[call-overload]

        run(str(where / "initdb"), "--auth=trust", "--username=emgas", "--encoding=UTF8", "--pgdata", data)
        run(
            str(where / "pg_ctl"),
            "--wait",
            "--pgdata",
            data,
            "--options",
            options,
            "--log",
            f"{folder}/server",
            "start",
        )
        try:
            yield f"postgresql://emgas@/postgres?host={folder}"
        finally:
            run(str(where / "pg_ctl"), "--wait", "--mode=immediate", "--pgdata", data, "stop")
