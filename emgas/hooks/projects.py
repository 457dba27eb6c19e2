"""Find the graph of a folder: one for each repository, and one for the person.

    ~/code/shop/api, of git@host:ada/shop.git    project/shop-3fa94c     by the repository's remote, in every clone
    ~/notes, in no repository                    project/notes-81b2d0    by its path
    ~ or no folder                               me

EMGAS_HOOK_GRAPH names another graph for all folders.
"""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath

PERSON = "me"
_REMOTE = re.compile(r'^\[remote "([^"]+)"\][^\[]*?^\s*url\s*=\s*(\S+)', re.MULTILINE)
_LEFT_OUT = re.compile(r"[^\w.-]+")
LONGEST = 100  # characters of a name: a graph id has 128


def graph_of(folder: str, *, local: bool = True) -> str:
    """Return the graph of a folder.  `local`: it is on this machine, so its repository can be read."""
    if chosen := os.environ.get("EMGAS_HOOK_GRAPH"):
        return chosen
    path = PureWindowsPath(folder) if re.match(r"[A-Za-z]:[\\/]|\\\\", folder) else PurePosixPath(folder)
    if not folder or path == PurePath(Path.home()) or len(path.parts) < 2:
        return PERSON
    root = _root(Path(folder)) if local else None
    remote = None if root is None else _remote(root)
    if remote is not None:
        return _graph(remote.rpartition("/")[2], remote)
    top = path if root is None else root
    return _graph(top.name, str(top))


def _graph(name: str, identity: str) -> str:
    kept = _LEFT_OUT.sub("-", name)[:LONGEST].strip("-.") or "folder"
    return f"project/{kept}-{hashlib.sha256(identity.encode(errors='surrogatepass')).hexdigest()[:6]}"


def _root(folder: Path) -> Path | None:
    """Return the top folder of the repository that `folder` is in."""
    return next((each for each in (folder, *folder.parents) if os.path.lexists(each / ".git")), None)


def _remote(root: Path) -> str | None:
    """Return host and path of the repository's remote, `origin` if it has several."""
    try:
        config = (_git_folder(root) / "config").read_text("utf-8", errors="replace")
    except OSError:
        return None
    urls = dict(_REMOTE.findall(config))
    return _normal(urls.get("origin") or next(iter(urls.values()))) if urls else None


def _git_folder(root: Path) -> Path:
    """Return the folder with the configuration; of a worktree, it is the main repository's."""
    git = root / ".git"
    if git.is_dir():
        return git
    pointed = root / git.read_text("utf-8").removeprefix("gitdir:").strip()
    common = pointed / "commondir"
    return pointed / common.read_text("utf-8").strip() if common.is_file() else pointed


def _normal(url: str) -> str:
    """Write an address as host/path, however it is fetched, and without the password that it may hold."""
    url = re.sub(r"^[a-z][a-z+]*://", "", url.lower() if url.isascii() else url)
    url = url.rpartition("@")[2].replace(":", "/", 1) if "@" in url.partition("/")[0] else url
    return url.rstrip("/").removesuffix(".git")
