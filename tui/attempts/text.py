"""What the attempts screen says, as content that nothing in the evidence can act in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from textual.content import Content

from core.browse.attempt_detail import AttemptDetail, AttemptFile, Head, Verdict
from core.browse.branches import PAGE, Branch
from core.browse.command_line import Command
from core.browse.operations import Attempt
from core.browse.rows import OperationRow, OutcomeStatus
from core.explanations import explain
from core.reports.wording import counted, seconds, size
from core.text import printable
from tui.text import near, safe, safe_lines

MARKS: Mapping[str, str] = {
    "answered": "✔",
    "accepted": "✔",
    "empty": "∅",
    "failed": "✖",
    "changed": "≠",
    "missing": "·",
    "stopped": "■",
    "interrupted": "◐",
    "under_way": "●",
    "unreadable": "?",
}
VERDICTS: Mapping[Verdict | None, str] = {
    "matches": "✔ matches",
    "changed": "✖ {name} changed since it was recorded",
    "missing": "✖ {name} is missing",
    "unreadable": "✖ {name} cannot be read",
    "unrecorded": "? not recorded",
    None: "… not compared yet: press v",
}
_COLOURS: Mapping[str, str] = {
    "✔": "$text-success",
    "✖": "$text-error",
    "≠": "$text-error",
    "◐": "$text-warning",
}
_DIGEST = re.compile(r"([0-9a-f]{8})[0-9a-f]{12}\Z")  # ends the ids of derived cases
_LEFT = (
    "Never run, stopped, interrupted, never asked because their cell's index failed, or answered by an index "
    "that was replaced since. Resume the run to give them a result."
)
_TO_COME = (
    "The run is being executed: these are under way, or their turn is still to come. f5 looks again. Those "
    "whose cell's index failed are not asked."
)
_NEVER_RUN = (
    "Never run: the run was not so far, or the cell's index failed. Resume the run to give it an attempt."
)
_NOT_YET_RUN = (
    "Not run yet: the run is being executed, and has not come so far, or the cell's index failed. f5 looks "
    "again."
)
_SHOWN_WORD = 2000
_LABEL = 11


class Seen(NamedTuple):
    """An attempt as the panel shows it; verdicts and heads come as they are found."""

    detail: AttemptDetail
    attempts: int
    query: str | None
    channel: str | None
    verdicts: Mapping[str, Verdict]
    heads: Mapping[str, Head | str]  # or why there is none
    status: OutcomeStatus = "missing"  # of the operation

    @property
    def is_changed(self) -> bool:
        """Whether the evidence of the attempt that was recorded as the result differs from its digests."""
        differs = self.detail.is_result and any(
            verdict in {"changed", "missing", "unreadable"} for verdict in self.verdicts.values()
        )
        return differs or self.status == "changed"


def size_of(file: AttemptFile) -> str:
    """Return how large a file is, or that it is not there."""
    return "missing" if file.bytes is None else size(file.bytes)


def branch_label(branch: Branch, parent: Branch | None) -> str:
    """Return what the tree says of a branch."""
    if branch.kind == "class":
        return f"✖ {branch.name} ({branch.size:,})"
    if branch.kind == "changed":
        return f"≠ evidence changed ({branch.size:,})"
    if branch.kind == "missing":
        return f"· without a result ({branch.size:,})"
    if branch.kind == "page":
        last = min(branch.offset + PAGE, branch.size)
        word = "more" if parent is None or branch.offset > parent.offset else "earlier"
        return f"{word}… {branch.offset + 1:,}–{last:,} of {branch.size:,}"
    if branch.kind == "operation" and branch.row is not None:
        inside = parent is not None and parent.filters is not None and parent.filters.error_class is not None
        return operation_label(branch.row, with_class=not inside, under_way=branch.under_way)
    if branch.kind == "attempt" and branch.attempt is not None and branch.row is not None:
        return attempt_label(branch.attempt, branch.row)
    return f"{branch.name} ({branch.size:,})"


def operation_label(row: OperationRow, *, with_class: bool = True, under_way: bool = False) -> str:
    """Return what the tree says of an operation; the panel has its whole name."""
    operation = row.operation
    case = (operation.case or "").removeprefix(f"{operation.repository}-")
    name = " ".join(part for part in (operation.kind, _DIGEST.sub(r"\1", case)) if part)
    status = row.error_class or ("no result" if row.status == "missing" else row.status)
    if under_way:
        status = "under way"
    parts = [
        f"{MARKS.get('under_way' if under_way else row.status, '?')} {name}",
        f"×{row.attempts}" if row.attempts > 1 else "",
        status if with_class else "",
        seconds(row.elapsed_s) if row.elapsed_s is not None else "",
    ]
    return "  ".join(part for part in parts if part)


def attempt_label(attempt: Attempt, row: OperationRow) -> str:
    """Return what the tree says of an attempt of an operation."""
    counts = row.attempt == attempt.number
    changed = row.status == "changed" and attempt.status == "accepted" and attempt.number == row.attempts
    ended = attempt.signal or (f"exit {attempt.exit_code}" if attempt.exit_code else "")
    parts = [
        attempt.error_class or attempt.status.replace("_", " "),
        ended,
        seconds(attempt.elapsed_s) if attempt.elapsed_s else "",
    ]
    told = "  ".join(part for part in parts if part)
    mark = MARKS["changed"] if changed else MARKS.get(attempt.status, "?")
    after = "  (changed since)" if changed else "  (counts)" if counts else ""
    return f"{mark} attempt {attempt.number}  {told}{after}"


def branch_content(branch: Branch) -> Content:
    """Return what the panel says of a branch that is no operation."""
    title = Content.styled(printable(branch_label(branch, None), 200), "bold")
    lines = [title, Content("")]
    if branch.kind == "class":
        told = explain(branch.name)
        lines += [_field("Meaning", told.meaning), _field("What to do", told.remedy), Content("")]
        lines.append(Content(f"r  retries these {branch.size:,}    c  fixes their cause and continues"))
    elif branch.kind == "changed":
        lines.append(
            Content(
                "The evidence of these operations differs from the digests that were recorded, so they count "
                "as missing. Restore it from a copy, or begin a new run; `boresight verify` names every file."
            )
        )
    elif branch.kind == "missing":
        lines.append(Content(_TO_COME if branch.executed else _LEFT))
    elif branch.row is not None:
        lines.append(Content(_NOT_YET_RUN if branch.executed else _NEVER_RUN))
    else:
        lines.append(Content(_below(branch)))
    return Content("\n").join(lines)


def _below(branch: Branch) -> str:
    """Return how many operations are below a candidate or a cell, and what can be done with the failed."""
    told = counted(branch.size, "operation")
    if branch.kind == "cell" and branch.filters is not None and branch.filters.status == "failed":
        return f"{told}. r  retries {'it' if branch.size == 1 else 'them'}."
    if not branch.failed:
        return f"{told}, none of which failed." if branch.size > 1 else f"{told}, which did not fail."
    return f"{told}, {branch.failed:,} of which failed. r  retries {'it' if branch.failed == 1 else 'them'}."


def attempt_content(seen: Seen) -> Content:
    """Return what the panel says of an attempt."""
    detail = seen.detail
    parts = [_title(seen), Content("")]
    parts += _verdict(seen)
    parts += [*_measurements(detail), Content(""), *_digests(seen)]
    parts += [_field("Folder", near(detail.folder)), Content("")]
    parts += _command(detail.command)
    for name in ("stdout", "stderr"):
        parts += _output(detail.file(name), seen.heads.get(name))
    return Content("\n").join(parts)


def copied_command(detail: AttemptDetail) -> str:
    """Return the command as a line for a shell; empty where there is none."""
    return detail.command.shell_line() if detail.command is not None else ""


def _title(seen: Seen) -> Content:
    detail = seen.detail
    operation = detail.operation
    head = f"{operation.candidate} × {operation.repository}  {operation.name}"
    parts = [
        Content.styled(printable(head, 300), "bold"),
        Content(f"\nattempt {detail.number} of {max(seen.attempts, detail.number)}, {_standing(seen)}"),
    ]
    if seen.query is not None:
        parts.append(Content(f"\n{seen.channel or 'query'}: ") + safe(seen.query, 500))
    return Content("").join(parts)


def _standing(seen: Seen) -> str:
    """Return whether the attempt counts, and what else does not."""
    detail = seen.detail
    if detail.result is None:
        return "no attempt counts: evidence changed" if seen.is_changed else "no attempt counts yet"
    if seen.is_changed:
        whose = "its evidence" if detail.is_result else f"the evidence of attempt {detail.result}"
        return f"no attempt counts: {whose} changed since"
    return "the one that counts" if detail.is_result else "not the one that counts"


def _verdict(seen: Seen) -> list[Content]:
    detail = seen.detail
    if detail.is_result and seen.is_changed:
        return [*_changed(detail), Content("")]
    judged = detail.judgement
    mark = MARKS.get(detail.status, "?")
    words = (
        detail.status.replace("_", " ")
        if judged.error_class is None
        else f"{detail.status}: {judged.error_class}"
    )
    lines = [Content.styled(f"{mark} {printable(words, 200)}", f"bold {_COLOURS.get(mark, '$text')}")]
    told = explain(judged.error_class, detail.status)
    lines.append(Content(told.meaning))
    if judged.message:
        lines.append(Content("It says: ") + safe_lines(judged.message[:4000]))
    if told.remedy:
        lines.append(Content.styled("What to do: ", "bold") + Content(told.remedy))
    lines += [Content.styled(f"✖ {printable(problem, 500)}", "$text-error") for problem in detail.problems]
    return [*lines, Content("")]


def _changed(detail: AttemptDetail) -> list[Content]:
    """Return what is said of a result whose evidence is no longer what it was."""
    return [
        Content.styled(f"{MARKS['changed']} {detail.status}, then its evidence changed", "bold $text-error"),
        Content("What lies here differs from the digests that were recorded, so it counts as missing."),
        Content.styled("What to do: ", "bold") + Content("Restore it from a copy, or begin a new run."),
        *(Content.styled(f"✖ {printable(problem, 500)}", "$text-error") for problem in detail.problems),
    ]


def _measurements(detail: AttemptDetail) -> list[Content]:
    measured, judged = detail.measured, detail.judgement
    if detail.status == "under_way":
        return [_field("Measured", "nothing yet")]
    if detail.status in {"interrupted", "unreadable"}:
        return [_field("Measured", "nothing that could be kept")]
    cpu = " + ".join(
        f"{value:.2f} s {name}"
        for value, name in ((measured.cpu_user_s, "user"), (measured.cpu_system_s, "system"))
        if value is not None
    )
    memory = [
        f"{size(measured.sampled_peak_rss_bytes)} sampled over its processes"
        if measured.sampled_peak_rss_bytes is not None
        else "never sampled",
        f"largest process {size(measured.largest_process_peak_bytes)}"
        if measured.largest_process_peak_bytes is not None
        else "",
    ]
    lines = [
        _field("Ended", _ending(detail)),
        _field("Timed out", "yes, its limit ended it" if measured.timed_out else "no"),
        _field("Took", f"{seconds(measured.elapsed_s)}    CPU {cpu or '—'}"),
        _field("Memory", "    ".join(part for part in memory if part)),
        _field("When", (measured.started_at or "—").replace("T", " ").replace("+00:00", " UTC")),
        _field("Disturbed", "yes: another campaign ran meanwhile" if detail.disturbed else "no"),
    ]
    if measured.stalled_s:
        lines.append(_field("Suspended", f"{measured.stalled_s:.1f} s of it (not counted against the limit)"))
    if measured.leftover_processes or measured.unkilled_processes:
        left = f"{measured.leftover_processes or 0} killed, {measured.unkilled_processes or 0} could not be"
        lines.append(_field("Left behind", f"processes: {left}"))
    if detail.origin is not None:
        origin = detail.origin
        lines.append(
            _field("Taken from", f"run {origin.name} ({origin.run[:12]}), attempt {origin.attempt} there")
        )
    counts = {
        "rows": judged.returned,
        "duplicates dropped": judged.duplicates,
        "beyond the limit": judged.surplus,
        "units": judged.units,
    }
    held = [f"{count:,} {name}" for name, count in counts.items() if count]
    if held or judged.returned == 0:
        lines.append(_field("Answer", ", ".join(held) or "no rows"))
    return lines


def _ending(detail: AttemptDetail) -> str:
    measured = detail.measured
    if measured.spawn_error is not None:
        return f"never started: {measured.spawn_error}"
    if measured.signal is not None:
        return f"signal {measured.signal}"
    if measured.exit_code is not None:
        return f"exit code {measured.exit_code}"
    words = {"answered": "answered; the session goes on", "not_started": "never started"}
    outcome = measured.outcome or "not recorded"
    return words.get(outcome, outcome.replace("_", " "))


def _digests(seen: Seen) -> list[Content]:
    lines = []
    for at, file in enumerate(seen.detail.files):
        verdict = seen.verdicts.get(file.name)
        told = VERDICTS[verdict].format(name=file.name)
        line = Content(f"{'Digests' if at == 0 else '':<{_LABEL}} {file.name:<17}")
        style = _COLOURS.get(told[0], "")
        lines.append(line + (Content.styled(told, style) if style else Content(told)))
    return lines


def _command(command: Command | None) -> list[Content]:
    if command is None or not command.steps:
        return [_field("Command", "none was recorded that could be run"), Content("")]
    lines = []
    for at, step in enumerate(command.steps):
        lines.append(_field("Command" if at == 0 else "then", " ".join(step.argv)))
        lines.append(_field("in", step.cwd))
        lines += [_field("with", f"{name}={value}") for name, value in step.environment]
        lines += [_field("secret", f"{name} (its value is kept nowhere)") for name in step.secrets]
    if command.request is not None:
        lines.append(_field("asked", command.request))
    lines.append(Content.styled(f"{'':<{_LABEL}} y copies it as a line for a shell", "dim"))
    return [*lines, Content("")]


def _output(file: AttemptFile, head: Head | str | None) -> list[Content]:
    key = {"stdout": "o", "stderr": "O"}.get(file.name, "")
    title = Content.styled(f"{file.name}", "bold") + Content(f"  {size_of(file)}    {key} opens it")
    if head is None:
        return [title, Content("")]
    if isinstance(head, str):
        return [title, Content.styled(printable(head, 500), "$text-error"), Content("")]
    lines = [Content(f"│ {line}") for line in head.lines] or [Content("│ (empty)")]
    return [title, *lines, *([Content("│ …")] if head.is_cut else []), Content("")]


def _field(label: str, text: str) -> Content:
    return Content.styled(f"{label:<{_LABEL}} ", "dim") + safe(text, _SHOWN_WORD)
