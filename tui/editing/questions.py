"""What the manifest screen asks, in words; each dialog is dismissed with the id of an answer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from core.campaign.starting import Preset
from core.errors import BoresightError
from core.text import printable
from tui.editing.looking_ahead import Ahead
from tui.screens.dialogs import Choice, ChoiceDialog

SHOWN_PROBLEMS = 8


def leave_dialog(path: Path | None, *, is_changed: bool = True) -> ChoiceDialog:
    """Ask what becomes of changes, or of what is no longer on disk: `save`, `discard` or `stay`."""
    name = path.name if path is not None else "The campaign"
    happened = "has changes that are not saved" if is_changed else "was removed or changed on disk meanwhile"
    discard = "Discard the changes" if is_changed else "Discard what is open here"
    return ChoiceDialog(
        f"{name} {happened}",
        "",
        (Choice("save", "Save and leave"), Choice("discard", discard), Choice("stay", "Stay here")),
    )


def remove_dialog(name: str, *, is_baseline: bool) -> ChoiceDialog:
    """Ask whether a repository or candidate is to be removed: `stay` or `remove`."""
    return ChoiceDialog(
        f"Remove {name}?",
        "It is the baseline: the campaign has none without it." if is_baseline else "",
        (Choice("stay", "Keep it"), Choice("remove", "Remove it; the file keeps it until you save")),
    )


def unmade_dialog() -> ChoiceDialog:
    """Ask what becomes of the choices of a campaign that was not made: `stay` or `discard`."""
    return ChoiceDialog(
        "The new campaign has not been created",
        "",
        (Choice("stay", "Stay here"), Choice("discard", "Discard what was chosen, and leave")),
    )


def changed_dialog(error: BoresightError) -> ChoiceDialog:
    """Ask what becomes of a file that somebody else has written: `reload`, `overwrite` or `stay`."""
    return ChoiceDialog(
        "Not saved: the file is not the one that was opened",
        str(error),
        (
            Choice("stay", "Stay here, and compare the two first"),
            Choice("reload", "Reload the file: the changes made here are lost"),
            Choice("overwrite", "Overwrite the file: the changes made there are lost"),
        ),
    )


def gone_dialog(path: Path) -> ChoiceDialog:
    """Ask what becomes of a document whose file is no longer there: `write` or `stay`."""
    return ChoiceDialog(
        "Not saved: the file is no longer there",
        f"{printable(str(path))}: was removed or moved since it was opened",
        (Choice("write", "Write it back"), Choice("stay", "Stay here")),
    )


def unsaved_dialog(error: BoresightError) -> ChoiceDialog:
    """Ask where else a file that cannot be written should go: `copy` or `stay`."""
    return ChoiceDialog(
        "Not saved",
        str(error),
        (Choice("copy", "Save a copy under the next free name"), Choice("stay", "Stay here")),
    )


def preset_choices(presets: Sequence[Preset]) -> tuple[Choice, ...]:
    """Return candidates to add; what is not installed can be added all the same, and says what it lacks."""
    return tuple(
        Choice(
            preset.id,
            f"{preset.id}: {preset.about}"
            + (f" — not ready: {_first_sentence(preset.missing)}" if preset.missing else ""),
        )
        for preset in presets
    )


def _first_sentence(text: str) -> str:
    """Return what is wrong first, without its remedy: the problems of a candidate tell it all."""
    heading, *items = text.split("\n")
    first = " ".join([heading, *(item.strip().removeprefix("- ") for item in items[:1])])
    return first.partition("; ")[0]


def run_dialog(ahead: Ahead) -> ChoiceDialog:
    """Show what a campaign will cost and ask whether to run it: `run`, `reuse` or `stay`."""
    errors = [str(problem) for problem in ahead.problems if problem.severity == "error"]
    warnings = [str(problem) for problem in ahead.problems if problem.severity == "warning"]
    lines = []
    if errors:
        lines += [f"✖ {len(errors)} to mend before it can run:"]
        lines += [*(f"  {each}" for each in errors[:SHOWN_PROBLEMS]), ""]
    lines += [*ahead.lines, *(f"⚠ {each}" for each in warnings[:SHOWN_PROBLEMS])]
    if ahead.measuring is not None:
        lines += [
            f"⚠ Another campaign measures on this machine: {ahead.measuring}. This one will wait for it; its "
            "monitor offers to run it beside."
        ]
    refusal = "mend the problems first" if errors or ahead.refusal else None
    if ahead.refusal:
        lines += ["", ahead.refusal]
    run = Choice("run", "Run it now, in a process of its own that outlives the app", refusal)
    choices = [run, Choice("stay", "Not now")]
    if ahead.earlier is not None:
        name = f"{ahead.earlier.parent.name}/{ahead.earlier.name}"
        reuse = Choice(
            "reuse",
            f"Run it, taking over from {name} every success of equal cells; that run stays as it is",
            refusal,
        )
        again = Choice("run", "Run it afresh: measure everything again", refusal)
        choices = [reuse, again, Choice("stay", "Not now")]
    if refusal:
        choices = [choices[-1], *choices[:-1]]
    return ChoiceDialog(f"Run {ahead.name}?", "\n".join(lines), choices)
