"""Readies a cell's state for NeuralMind; the first step of its index.

    python -P -m core.retrievers.neuralmind_prepare MODEL TOKENIZER FOLDER REPOSITORY

NeuralMind takes its model from a folder that holds `model.onnx` and `tokenizer.json`, and without one
downloads it: such a FOLDER is made of links. Ends with status 2 where the repository's own settings would
make NeuralMind send each query to another machine.
"""

from __future__ import annotations

import sys
from pathlib import Path

MODEL, TOKENIZER = "model.onnx", "tokenizer.json"
SETTINGS = tuple(f"neuralmind-backend.{suffix}" for suffix in ("yaml", "yml", "json"))
_FORWARDING = b"audit_syslog"


def link_model(model: Path, tokenizer: Path, folder: Path) -> None:
    """Make a folder that holds links to a model and its tokenizer; raises OSError."""
    folder.mkdir()
    (folder / MODEL).symlink_to(model)
    (folder / TOKENIZER).symlink_to(tokenizer)


def forwarding_settings(repository: Path) -> Path | None:
    """Return a repository's settings file that has NeuralMind forward what it is asked, None without one."""
    for name in SETTINGS:
        path = repository / name
        if path.is_file() and _FORWARDING in path.read_bytes():
            return path
    return None


def main(arguments: list[str]) -> int:
    """Run the command; returns its exit status."""
    model, tokenizer, folder, repository = map(Path, arguments)
    settings = forwarding_settings(repository)
    if settings is not None:
        sys.stderr.write(
            f"{settings.name} of the repository sets audit_syslog, with which NeuralMind sends every query"
            " to a log server; measure a commit without it\n"
        )
        return 2
    link_model(model, tokenizer, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
