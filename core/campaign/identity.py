"""What freezes a campaign: its controls, the identity of each cell, and how two sets of controls differ."""

from __future__ import annotations

import os
import platform
import shlex
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import psutil

import core
from core.banks.case import Bank
from core.campaign.manifest import Campaign
from core.campaign.sources import FrozenSource
from core.canonical import sha256, sha256_file, sha256_of
from core.engine.environment import governing_environment
from core.errors import IdentityError
from core.questions import RANKING_DEPTH, kept_graded_cutoffs
from core.retrievers.protocol import Retriever
from core.retrievers.registry import source_files
from core.text import printable

# Code that starts, measures or reads retrievers. What only scores, steers or shows is no part of identity.
_EXECUTING = (
    "engine/cell.py",
    "engine/commands.py",
    "engine/engine.py",
    "engine/environment.py",
    "engine/executor.py",
    "engine/operation.py",
    "engine/process_tree.py",
    "engine/processes.py",
    "engine/supervisor.py",
    "run/evidence.py",
    "run/measurement.py",
    "campaign/places.py",
    "campaign/plan.py",
    "campaign/sources.py",
    "campaign/tree_*.py",
    "git.py",
    "git_command.py",
    "ranking.py",
    "retrievers/protocol.py",
    "retrievers/answers.py",
)


def candidate_controls(entry: Mapping[str, Any], retriever: Retriever) -> dict[str, Any]:
    """Return all that one candidate's answers depend on; raises InputError where a part is missing."""
    features = retriever.features
    configuration = retriever.configuration()
    return {
        "retriever": entry.get("retriever", "codira"),
        "engine": entry.get("engine"),
        "model": entry.get("model"),
        "version": entry.get("version"),
        "dimension": entry.get("dimension"),
        "precision": entry.get("precision"),
        "configuration": {
            "suffix": configuration.suffix,
            "sha256": sha256(configuration.identity),
        },
        "features": {**features._asdict(), "channels": sorted(features.channels)},
        "fingerprint": dict(retriever.fingerprint()),
        "adapter_sha256": sha256_of([sha256_file(path) for path in source_files(entry)]),
    }


def campaign_controls(
    campaign: Campaign,
    bank: Bank,
    sources: Mapping[str, FrozenSource],
    candidates: Mapping[str, Mapping[str, Any]],
) -> dict[str, Any]:
    """Return the controls that a resume must find unchanged; no path on this machine is among them."""
    cutoffs = kept_graded_cutoffs(campaign.cutoffs) if bank.graded else campaign.cutoffs
    return {
        "bank": {"format": bank.format, "sha256": bank.sha256, "cases": len(bank.cases)},
        "cutoffs": list(cutoffs),
        "depth": RANKING_DEPTH if bank.graded else max(cutoffs),
        "probe_depth": max(cutoffs),
        "baseline": campaign.baseline,
        "seed": campaign.seed,
        "limits": campaign.limits.model_dump(),
        "budgets": campaign.budgets.model_dump(),
        "runtime": runtime(),
        "repositories": {
            label: {"commit": source.commit, "tree_digest": source.tree_digest}
            for label, source in sources.items()
        },
        "candidates": {name: dict(controls) for name, controls in candidates.items()},
    }


def cell_identity(controls: Mapping[str, Any], candidate: str, repository: str) -> str:
    """Return the SHA-256 that names one cell: its candidate, repository, limits, depths and runtime."""
    return sha256_of(
        {
            "candidate": controls["candidates"][candidate],
            "repository": controls["repositories"][repository],
            "limits": controls["limits"],
            "depth": controls["depth"],
            "probe_depth": controls["probe_depth"],
            "runtime": controls["runtime"],
        }
    )


def runtime() -> dict[str, Any]:
    """Return the interpreter, platform, processor and executing code that measurements were made with."""
    return {
        "python": platform.python_version(),
        "implementation": sys.implementation.name,
        "system": platform.system(),
        "machine": platform.machine(),
        "cpu": {"model": _cpu_model(), "logical": psutil.cpu_count() or os.cpu_count()},
        "environment": governing_environment(),
        "harness": harness(),
    }


@cache
def harness() -> dict[str, str]:
    """Return the SHA-256 of each source file that executes, keyed by its path below `core/`."""
    base = Path(core.__file__).parent
    files = sorted(path for pattern in _EXECUTING for path in base.glob(pattern))
    return {path.relative_to(base).as_posix(): sha256_file(path) for path in files}


def differences(frozen: Any, found: Any, field: str = "") -> Iterator[str]:
    """Yield each field that differs as `field: frozen → found`, in the order of the frozen value."""
    if isinstance(frozen, Mapping) and isinstance(found, Mapping):
        for key in [*frozen, *(key for key in found if key not in frozen)]:
            inner = f"{field}.{key}" if field else str(key)
            yield from differences(frozen.get(key, _ABSENT), found.get(key, _ABSENT), inner)
    elif frozen != found:
        yield f"{field}: {_shown(frozen)} → {_shown(found)}"


def require_same(frozen: Mapping[str, Any], found: Mapping[str, Any], run: Path) -> None:
    """Raise IdentityError that lists, field by field, how the controls differ from a run's frozen ones."""
    lines = list(differences(frozen, found))
    if lines:
        raise IdentityError(
            "\n".join(
                [
                    f"{run}: this is not the campaign that the run was frozen with:",
                    *(f"  - {line}" for line in lines),
                    "The run was left as it is. Undo the changes to resume it, or run the changed campaign "
                    "into a new directory that takes over every success that still holds:",
                    f"  boresight run … --output NEW --reuse {shlex.quote(printable(str(run)))}",
                ]
            )
        )


_ABSENT = object()


def _shown(value: Any) -> str:
    if value is _ABSENT:
        return "absent"
    text = value if isinstance(value, str) else repr(value)
    return printable(text, 80)


@cache
def _cpu_model() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as stream:
            for line in stream:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor()
