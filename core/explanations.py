"""What each error class means in plain words, and what mends it; for screens and whoever reads a failure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Explanation(NamedTuple):
    """What happened, and what to do; each a sentence or two."""

    meaning: str
    remedy: str


_READ_STDERR = "Read stderr below, mend the tool or its configuration, then retry."
_MEND_TOOL = "Look at stdout below. Mend the tool, or the retriever that reads it, then retry."
_NEW_INDEX = "Retry the index: it starts from empty state, and the cell's queries run again after it."

EXPLANATIONS: Mapping[str, Explanation] = {
    "nonzero_exit": Explanation("The command ended by itself and reported a failure.", _READ_STDERR),
    "killed_by_signal": Explanation(
        "Something other than Boresight ended the process with a signal. SIGKILL is most often the system "
        "that was short of memory, SIGSEGV or SIGABRT a crash of the tool itself.",
        "Compare the memory below with what the machine has (`journalctl -k` tells of the system's kills), "
        "make room or choose a smaller model, then retry.",
    ),
    "timeout": Explanation(
        "The command was still running when its time limit ended it.",
        "Retry where the machine was merely busy. Otherwise raise `query_timeout` (or `index_timeout`) and "
        "fix and continue: equal cells that succeeded are taken over.",
    ),
    "output_limit": Explanation(
        "The command printed more than `max_output_bytes`; it was ended and its output cut there.",
        "See below what it prints. Silence it, or raise `max_output_bytes` and fix and continue.",
    ),
    "spawn_failed": Explanation(
        "The command could not be started at all.",
        "Install the program, or give the right path and the right to execute it, then retry.",
    ),
    "session_ended": Explanation(
        "The session's process ended, or closed its output, before it had answered.",
        "Read stderr below for a crash. A retry starts a new session.",
    ),
    "surplus_output": Explanation(
        "The session printed more than the one line that it was asked for.",
        "Have the tool print banners and warnings to stderr, then retry.",
    ),
    "out_of_step": Explanation(
        "The session answered another request than the one it was asked.",
        "The tool must answer each line with one line that repeats its id. A retry starts a new session.",
    ),
    "supervisor_lost": Explanation(
        "Boresight's own supervising process was killed while this ran, so nothing else was measured.",
        "See that nothing kills processes of this user (a memory limit, a login manager), then retry.",
    ),
    "unpassable_query": Explanation(
        "The query cannot be handed to this tool: a command line holds no NUL and has a largest length.",
        "It fails the same way every time. Use the tool's session form, or a bank without this case.",
    ),
    "repository_changed": Explanation(
        "The index step wrote into the frozen repository; that was undone, and the index is not accepted.",
        "Configure the tool to write only into its state folder, or declare the retriever as one that "
        "writes into the repository, which gives it a copy.",
    ),
    "index_failed": Explanation(
        "The cell has no index, so this was never asked.",
        "Retry the cell's index; its queries run after it.",
    ),
    "empty_index": Explanation(
        "The index was built and holds nothing.",
        "See in stdout and stderr what the tool skipped: a wrong path, file type or filter. Then retry.",
    ),
    "incomplete_index": Explanation(
        "The index holds less than its own structure says it should, so answers would be worth nothing.",
        f"{_NEW_INDEX} Where it stays incomplete the tool loses units: report it with this evidence.",
    ),
    "two_vector_sets": Explanation(
        "The index holds vectors of more than one model, so what a query finds depends on which it reads.",
        f"{_NEW_INDEX} Where there are two again, give the tool a configuration with one model.",
    ),
    "missing_index": Explanation("There is no index in the cell's state folder.", _NEW_INDEX),
    "damaged_index": Explanation("The index's files are damaged, or not those that were built.", _NEW_INDEX),
    "unreadable_index": Explanation("The index's files cannot be read.", _NEW_INDEX),
    "empty_output": Explanation(
        "The command ended well and printed nothing where an answer was expected.", _MEND_TOOL
    ),
    "invalid_json": Explanation(
        "The answer is not valid JSON: it is cut, has a banner around it, or was never JSON.",
        "Look at stdout below. Have the tool print its answer alone, notes to stderr, then retry.",
    ),
    "invalid_utf8": Explanation(
        "The answer holds bytes that are no UTF-8.", "Have the tool print UTF-8, then retry."
    ),
    "wrong_shape": Explanation(
        "The answer is JSON of another form than the retriever's protocol says.", _MEND_TOOL
    ),
    "too_long": Explanation(
        "The answer is longer than any that is read.",
        "Have the tool honour the limit it is given, then retry.",
    ),
    "error_answer": Explanation(
        "The tool answered with an error of its own instead of results.",
        "Its message and stderr say what it lacks. Mend that, then retry.",
    ),
    "wrong_command": Explanation(
        "The answer is that of another command than the one it was asked.",
        "Check the tool's version: its commands may have changed. Then retry.",
    ),
    "bad_run_line": Explanation(
        "A line of the TREC run file that is replayed does not read.",
        "Correct the line that the message names, and replay the file in a new run.",
    ),
    "not_recorded": Explanation(
        "What is replayed holds no answer to this case.",
        "Replay a run or file of the same bank, or compare the cases that both have.",
    ),
    "no_probe": Explanation(
        "What is replayed holds no context for a probe.", "Use a candidate that runs, or leave the probe out."
    ),
    "outside_repository": Explanation(
        "The answer names a path that is absolute or leads out of the repository.",
        "Have the tool print paths relative to the repository's root, then retry.",
    ),
    "bad_path": Explanation("The answer names a path that no file can have.", _MEND_TOOL),
    "bad_line": Explanation(
        "The answer holds a line number that is none: lines are whole numbers from 1, ends not before "
        "beginnings.",
        _MEND_TOOL,
    ),
    "bad_score": Explanation("The answer holds a score that is no finite number.", _MEND_TOOL),
    "unknown_kind": Explanation("The answer names a kind of location that is not known.", _MEND_TOOL),
    "tool_error": Explanation(
        "The command ended well, and its answer is an error of its own.",
        "The message below says which. Mend what it complains of, then retry.",
    ),
    "wrong_answer": Explanation(
        "The answer is not of the kind that the manifest's `expect` asks for: that of another command, or of "
        "another version.",
        "Compare stdout below with the entry's `expect`.",
    ),
    "unreadable_line": Explanation(
        "A line of the output does not fit the manifest's pattern.",
        "Compare the line with the entry's `pattern`; `skip_other_lines` ignores such lines.",
    ),
    "unverifiable_index": Explanation(
        "The entry's `verify` command did not count the index.",
        "Run it by hand: it must print one JSON object with a count in `units`.",
    ),
    "unknown": Explanation("The evidence does not say why this failed.", "Read stderr below, then retry."),
}

_STATUSES: Mapping[str, Explanation] = {
    "accepted": Explanation("The attempt ended well and its answer was read.", ""),
    "stopped": Explanation(
        "The person, or the system on their behalf, stopped the run during this attempt.",
        "Resume the run: the operation gets a new attempt.",
    ),
    "interrupted": Explanation(
        "The attempt has no measurement: the run's process was killed, or lost its disk, before it could "
        "be written. What it printed until then is kept.",
        "Resume the run: the operation gets a new attempt.",
    ),
    "under_way": Explanation("The attempt is being made: the run is being executed.", ""),
    "unreadable": Explanation(
        "The attempt's measurement cannot be read, so nothing in it can be relied on.",
        "Restore it from a copy, or begin a new run.",
    ),
}


def explain(error_class: str | None, status: str = "failed") -> Explanation:
    """Return what an attempt's status and error class mean; a retriever may have classes of its own."""
    if status != "failed" and status in _STATUSES:
        return _STATUSES[status]
    known = EXPLANATIONS.get(error_class or "unknown")
    if known is not None:
        return known
    return Explanation("The retriever refused the answer; its message says why.", _MEND_TOOL)
