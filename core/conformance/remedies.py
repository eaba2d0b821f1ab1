"""What to change in a tool, or in its manifest's entry, so that its answers can be read."""

from __future__ import annotations

from collections.abc import Mapping

from core.explanations import explain
from core.run.evidence import Validation

_REMEDIES: Mapping[str, str] = {
    "spawn_failed": "name the executable as it is called here, and give it the right to run (chmod u+x); a "
    "script needs a first line such as #!/usr/bin/env python3, which ends without a carriage return",
    "killed_by_signal": "find out what ended it: a crash of the tool itself, or a system short of memory",
    "nonzero_exit": "run the command by hand to see what it complains of; where that status only means that "
    "nothing was found, add it to config.empty_exit_codes",
    "timeout": "find out what it waits for, or raise limits.query_timeout (an index: limits.index_timeout); "
    "a session must end each answer with a newline and flush it",
    "output_limit": "let it honour {limit}, or raise limits.max_output_bytes",
    "session_ended": "the process must answer lines until its input ends; see what it wrote to stderr",
    "surplus_output": "print one line for each request on stdout, and everything else on stderr",
    "out_of_step": 'put the "id" of the request into its answer (or say where it stands: config.answer.id)',
    "unpassable_query": "use the session form, which can be asked anything",
    "empty_output": "print an answer also where nothing is found, or add the exit status that says so to "
    "config.empty_exit_codes",
    "invalid_json": "print the answer alone on stdout; banners, progress and logs belong on stderr",
    "wrong_shape": "compare the output with the form that config.answer (or config.context) declares",
    "tool_error": "the tool reports an error of its own although it exits with 0; mend what it complains of",
    "wrong_answer": "the output is not what config.answer.expect asks for; compare both",
    "unreadable_line": "compare the line with config.answer.pattern; skip_other_lines = true ignores it",
    "outside_repository": "print paths below the repository, relative to its root (absolute ones are read "
    "where config.answer says how the output reads, not in Boresight's own form)",
    "bad_path": "print paths as the repository holds them, such as package/module.py",
    "bad_score": "print finite numbers as scores, or none",
    "invalid_utf8": "print UTF-8",
    "too_long": "let it honour {limit}",
    "bad_line": "lines count from 1; for a tool that counts from 0 set config.answer.first_line = 0",
    "unknown_kind": "name the tool's kinds in config.answer.kinds, or leave config.answer.kind out",
    "repository_changed": "let the tool write into {state}, or set config.writes_repository = true",
    "empty_index": "see what the index command printed; it must leave its index in {state} (or name its "
    "places in config.index_paths)",
    "unverifiable_index": 'the verify command must print one JSON object with a count in "units"',
}


def remedy(validation: Validation) -> str:
    """Return what mends a failed operation, in a sentence without its full stop."""
    known = _REMEDIES.get(validation.error_class or "")
    return known or explain(validation.error_class).remedy.rstrip(".")
