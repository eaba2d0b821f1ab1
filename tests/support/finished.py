"""A complete run, yet without reports: made once for each test process, copied for each test."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import NamedTuple

from core.run.layout import RunLayout
from tests.support.campaigns import campaign, fake, make_scene, run_new

CASES = 4  # one for each intent of the scene
OPERATIONS = 1 + 2 * CASES  # of each candidate


class Finished(NamedTuple):
    """A complete run of the candidates `a` (the baseline) and `b` on the repository `store`."""

    folder: Path
    run: Path


def finished_run(folder: Path, *, private: bool = False) -> Finished:
    """Return a copy, in `folder`, of a complete run whose repository is private or not."""
    run = folder / "run"
    shutil.copytree(_made(os.getpid(), private), run, symlinks=True)
    return Finished(folder, run)


@cache
def _made(process: int, private: bool) -> Path:
    """Make the run; its repository and bank are removed, so that no reader can lean on them."""
    folder = Path(tempfile.mkdtemp(prefix=f"boresight-tests-{process}-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    scene = make_scene(folder, per_intent=1)
    scene = scene._replace(repository=scene.repository.model_copy(update={"private": private}))
    ran = run_new(campaign(scene, fake("a", session=True), fake("b", session=True)), folder / "run")
    assert ran.state == "complete"
    for report in (RunLayout(ran.run).summary, RunLayout(ran.run).summary_text):
        report.unlink(missing_ok=True)
    shutil.rmtree(scene.repository.path)
    scene.cases.unlink()
    return ran.run
