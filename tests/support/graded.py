"""A small graded campaign: three modules, questions with grades and facts, and fake candidates."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from core.questions import Fact, Question
from core.repositories import RepositoryEntry
from core.run.layout import RunLayout
from core.scoring.faithfulness import faithfulness
from core.scoring.graded import GradedAnswer, graded_board
from core.scoring.graded_records import GradedBoard
from core.scoring.reduction import reduction
from tests.support.campaigns import Scene, campaign, fake, run_new
from tests.support.repositories import make_repository

FILES = {
    "shop/prices.py": b"def price_of(item):\n    return item.price\n\n\ndef sum_up(items):\n    return 0\n",
    "shop/orders.py": b"def place_order(items):\n    return price_of(items[0])\n",
    "shop/stock.py": b"def count_stock():\n    return 3\n",
    "shop/__init__.py": b"import os\n",
}
MODULES = ("shop/orders.py", "shop/prices.py", "shop/stock.py")
SECRET_WORDS = ("shop/", ".py", "price", "place_order", "stock", "q-one", "nothing_here")


def query(case_id: str, question: str, shape: str, facts: list[Any], **grades: int) -> dict[str, Any]:
    """Return a question of the file; grades are those of `shop/NAME.py`, 0 where none is given."""
    return {
        "id": case_id,
        "question": question,
        "shape": shape,
        "relevance_grades": {path: grades.get(Path(path).stem, 0) for path in MODULES},
        "gold_facts": facts,
    }


QUERIES = [
    query("q-one", "How does price_of work", "focused", ["shop prices", "price is negative"], prices=3),
    query(
        "q-two", "How does place_order work", "cross-file", ["shop orders", "no stock"], orders=3, prices=1
    ),
    query("q-three", "What is counted by nothing_here", "identity", ["shop stock", "stock counts"], stock=2),
]


def document(*queries: dict[str, Any], **more: Any) -> bytes:
    """Return the bytes of a graded file."""
    return json.dumps({"version": "1.0", "description": "", "queries": [*queries], **more}).encode()


def graded_scene(folder: Path, *, private: bool = False) -> Scene:
    """Make the repository `shop` and its graded bank."""
    commit = make_repository(folder / "shop", FILES)
    entry = RepositoryEntry(label="shop", path=folder / "shop", commit=commit, private=private)
    cases = folder / "queries.json"
    cases.write_bytes(document(*QUERIES))
    return Scene(folder, entry, cases)


def graded_run(folder: Path, *, private: bool = False) -> Path:
    """Return a copy, in `folder`, of a complete graded run of the candidates `a` (the baseline) and `b`."""
    run = folder / "run"
    shutil.copytree(_made(os.getpid(), private), run, symlinks=True)
    return run


@cache
def _made(process: int, private: bool) -> Path:
    folder = Path(tempfile.mkdtemp(prefix=f"boresight-tests-{process}-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    scene = graded_scene(folder, private=private)
    quiet = fake("b", session=True, faults={"price_of": "nothing"})
    ran = run_new(campaign(scene, fake("a", session=True), quiet), folder / "run")
    assert ran.state == "complete"
    shutil.rmtree(scene.repository.path)
    scene.cases.unlink()
    for report in (RunLayout(ran.run).summary, RunLayout(ran.run).summary_text):
        report.unlink(missing_ok=True)
    return ran.run


def board(*, embedding: str | None = None, hostile: str = "") -> GradedBoard:
    """Return a small board of the candidates `x`, with a probe, and `y`, without; text can be hostile."""
    grades = {f"a{hostile}.py": 3, "b.py": 1, "c.py": 0}
    facts = (Fact(f"the store {hostile} is SQLite"), Fact("records expire"))
    one = Question("one", "focused", f"How {hostile}?", grades, facts)
    two = Question("two", "identity", "What?", grades, facts)
    judged = faithfulness(f"the store {hostile} is PostgreSQL, records never expire", facts)
    if embedding is not None:
        judged = judged._replace(context_precision=0.5, context_recall=1.0, answer_relevance=0.25)
    answers = [
        GradedAnswer("x", one, "answered", None, (f"a{hostile}.py", "z.py"), judged, reduction("a b", 20)),
        GradedAnswer("x", two, "failed", f"timeout{hostile}"),
        GradedAnswer("y", one, "answered", None, ("c.py", "b.py")),
        GradedAnswer("y", two, "answered"),
    ]
    return graded_board(answers, {"x": True, "y": False}, ("focused", "identity"), 3, embedding)
