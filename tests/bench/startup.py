"""`boresight --help` beside a bare interpreter, and what it must not load."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.bench.row import Row, paired_ratio

TIMES = 21
HEAVY = ("textual", "numpy", "git", "pydantic", "onnxruntime", "rich")
_HELP = "import sys; from core.cli import main; sys.argv = ['boresight', '--help']; main()"
_LOADED = (
    "import sys, contextlib, io\nfrom core.cli import main\n"
    "with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()): main(['--help'])\n"
    "print(*{name.partition('.')[0] for name in sys.modules})"
)


def rows() -> list[Row]:
    """Return the rows of starting."""
    ratio, helped, bare = paired_ratio(lambda: _cpu(_HELP), lambda: _cpu("pass"), TIMES)
    loaded = set(_output(_LOADED).split())
    heavy = [name for name in HEAVY if name in loaded]
    return [
        Row(
            "boresight --help",
            "≤ 8 × a bare interpreter",
            f"{helped * 1e3:.0f} ms, bare {bare * 1e3:.0f} ms (processor time)",
            ratio,
            8.0,
        ),
        Row(
            "  heavy packages that it loads",
            f"none of {', '.join(HEAVY)}",
            ", ".join(heavy) or "none",
            float(len(heavy)),
            0.0,
        ),
    ]


def _cpu(program: str) -> float:
    """Return the processor seconds of one interpreter."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    pid = os.posix_spawn(
        sys.executable,
        [sys.executable, "-c", program],
        dict(os.environ),
        file_actions=[(os.POSIX_SPAWN_DUP2, devnull, 1)],
    )
    _, status, usage = os.wait4(pid, 0)
    os.close(devnull)
    if status:
        raise RuntimeError(f"{program!r} ended with {status}")
    return usage.ru_utime + usage.ru_stime


def _output(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout
