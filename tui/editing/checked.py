"""A screen that says what is wrong with its document, and goes to where each problem is."""

from __future__ import annotations

from pathlib import Path

from textual import on, work
from textual.widgets import Static
from textual.worker import get_current_worker

from core.campaign.checking import FieldProblem
from tui.editing.keeping import KeepingScreen
from tui.text import safe
from tui.widgets.problem_list import ProblemList


class CheckedScreen(KeepingScreen):
    """Checks in a thread: first what is written, then what it names on disk."""

    def __init__(self, folder: Path, path: Path | None, frozen: Path | None) -> None:
        super().__init__(folder, path, frozen)
        self._problems: tuple[FieldProblem, ...] = ()
        self._next_problem = 0

    def problems_changed(self) -> None:
        """Show the problems where else they are marked."""
        raise NotImplementedError

    def go_to(self, problem: FieldProblem) -> None:
        """Put the cursor where a problem is."""
        raise NotImplementedError

    @work(thread=True, exclusive=True, group="check", exit_on_error=False)
    def check(self, *, anew: bool = False) -> None:
        """Find what is wrong: first with what is written, then with what is on disk."""
        worker, keeper, checker = get_current_worker(), self._keeper, self._checker
        if keeper is None or self.frozen is not None:
            return
        if anew:
            checker.forget()
        snapshot = keeper.snapshot

        def show(problems: tuple[FieldProblem, ...], doing: str) -> None:
            if not worker.is_cancelled:
                self.app.call_from_thread(self.show_problems, problems, doing)

        quick = checker.quick(snapshot)
        show(quick, "checking …")
        found = checker.thorough(snapshot, lambda: worker.is_cancelled, lambda text: show(quick, f"{text} …"))
        show(found, "")

    def show_problems(self, problems: tuple[FieldProblem, ...], doing: str) -> None:
        """Show what was found; `doing` says what is still being looked at."""
        if doing and set(problems) <= set(self._problems):
            problems = self._problems  # the rest of what was known stands until it is known better
        self._problems = problems
        errors = sum(problem.severity == "error" for problem in problems)
        told = f"✖ {errors:,} to mend" if errors else "✔ ready to run"
        warnings = len(problems) - errors
        told += f" · ⚠ {warnings:,} to know" if warnings else ""
        self.query_one("#problems-title", Static).update(safe(f"{told}  {doing}", 200))
        self.query_one(ProblemList).show(problems)
        self.problems_changed()

    @on(ProblemList.Chosen)
    def _problem_chosen(self, event: ProblemList.Chosen) -> None:
        self.go_to(event.problem)

    @on(ProblemList.Copied)
    def _problem_copied(self, event: ProblemList.Copied) -> None:
        self.boresight.copy(event.text)

    def action_next_problem(self) -> None:
        """Go to the field of the next problem."""
        problems = sorted(self._problems, key=lambda problem: problem.severity != "error")
        if problems:
            self.go_to(problems[self._next_problem % len(problems)])
            self._next_problem += 1

    def action_look_again(self) -> None:
        """Check again, with nothing remembered."""
        self.check(anew=True)
