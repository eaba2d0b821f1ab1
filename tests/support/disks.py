"""Small disks of their own, that a test can fill to the last byte and give room again."""

from __future__ import annotations

import contextlib
import errno
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest


class SmallDisk:
    """A tmpfs of a few megabytes; only root may mount one."""

    def __init__(self, folder: Path, kibibytes: int) -> None:
        self.folder = folder
        self.ballast = folder / "ballast"
        folder.mkdir(exist_ok=True)
        _mount("-t", "tmpfs", "-o", f"size={kibibytes}k", "tmpfs", str(folder))

    def fill(self) -> None:
        """Take all that is left."""
        with open(self.ballast, "ab", buffering=0) as stream, contextlib.suppress(OSError):
            while stream.write(b"x" * 4096):
                pass
        with pytest.raises(OSError) as refused:
            (self.folder / "probe").write_bytes(b"x")
        assert refused.value.errno == errno.ENOSPC
        (self.folder / "probe").unlink()

    def free(self) -> None:
        """Make room again."""
        self.ballast.unlink()

    def remount(self, *options: str) -> None:
        """Change its size, or whether it may be written."""
        _mount("-o", ",".join(("remount", *options)), str(self.folder))

    def filling(self, call: Callable[..., Any], at: int = 1) -> Callable[..., Any]:
        """Return a function that fills the disk just before its `at`th call."""
        calls = 0

        def wrapped(*arguments: Any, **named: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == at:
                self.fill()
            return call(*arguments, **named)

        return wrapped

    def close(self) -> None:
        """Take it away, whatever still lies on it."""
        subprocess.run(["umount", "--lazy", str(self.folder)], check=True)


@contextlib.contextmanager
def small_disk(folder: Path, kibibytes: int = 8192) -> Iterator[SmallDisk]:
    """Mount a small disk for a while; skips the test where that is not allowed."""
    if os.geteuid() != 0:
        pytest.skip("only root may mount a small disk to fill")
    disk = SmallDisk(folder, kibibytes)
    try:
        yield disk
    finally:
        disk.close()


def _mount(*words: str) -> None:
    done = subprocess.run(["mount", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"a small disk cannot be mounted here: {done.stderr.strip()}")
