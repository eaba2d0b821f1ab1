"""`boresight gate`: exit 1 where a run does not keep to its floors, or fell against an older one."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from core import api
from core.commands.output import narrate, say, table, write
from core.durable import write_durably
from core.errors import Exit, InputError
from core.gating.against import Against, against
from core.gating.floors import Floors, default_text, read_floors
from core.gating.hold import Held, chosen_candidates, floors_of_kind, hold
from core.reports.gates import HEADERS, MACHINE, GateRow, gate_rows, verdict
from core.reports.wording import disturbance
from core.text import printable


def gate(arguments: argparse.Namespace) -> int:
    """Hold a run to floors, or show the default ones."""
    if arguments.show_default:
        write([default_text()])
        return Exit.DONE
    if arguments.run is None:
        raise InputError("gate needs a run: boresight gate RUN --floors FLOORS.toml")
    floors = read_floors(arguments.floors) if arguments.floors is not None else None
    _demand_place(arguments.junit)
    rescored = _rescored(arguments)
    if floors is None and arguments.against is None:
        floors = _default(rescored)
    named = tuple(arguments.candidate or ())
    chosen_candidates(tuple(rescored.board.candidates), floors, named)
    held = hold(rescored, floors, named, allow_incomplete=arguments.allow_incomplete)
    compared = against(rescored, arguments.against, held.candidates) if arguments.against else None
    rows = gate_rows(held, compared, rescored.board.sought, rescored.facts.private)
    _write_junit(arguments.junit, rows, rescored.facts.name)
    _print(arguments, rescored, held, compared, rows)
    return Exit.DONE if all(row.held for row in rows) else Exit.NEGATIVE


def _rescored(arguments: argparse.Namespace) -> api.Rescored:
    if not arguments.embed:
        return api.rescore(arguments.run)
    from core.embedding import embedded_model

    return api.rescore(arguments.run, embedding=embedded_model())


def _default(rescored: api.Rescored) -> Floors:
    floors = floors_of_kind(rescored)
    if floors is None:
        raise InputError(
            "no floors are named, and only runs of graded banks have default ones, as what can be expected "
            "depends on the bank; write a file (docs/gates.md shows how) and name it with --floors, or "
            "compare with an older run by --against"
        )
    return floors


def _print(
    arguments: argparse.Namespace,
    rescored: api.Rescored,
    held: Held,
    compared: Against | None,
    rows: tuple[GateRow, ...],
) -> None:
    if arguments.json:
        from core.reports.gates_json import gates_json

        told = gates_json(held, compared, rows, rescored.facts, rescored.board.sought)
        say(json.dumps(told, indent=1, ensure_ascii=False, allow_nan=False))
        return
    table(HEADERS, [row.cells for row in rows])
    for row in rows:
        lines = [*([row.note] if row.note not in ("", MACHINE) else []), *row.details]
        if lines:
            say("")
            say(f"{row.title} ({row.candidate}):")
            for line in lines:
                say(f"  {line}")
    say("")
    disturbed = disturbance(*rescored.facts.disturbed)
    if any(row.note == MACHINE for row in rows):
        say(MACHINE + (f". {disturbed}" if disturbed else "."))
    if held.floors is not None:
        say(f"Floors: {printable(held.floors.name)}")
    say(verdict(rows))
    if arguments.github:
        from core.reports.annotations import error_commands

        for line in error_commands(rows):
            say(line)


def _demand_place(junit: Path | None) -> None:
    if junit is not None and not junit.absolute().parent.is_dir():
        folder = printable(str(junit.absolute().parent))
        raise InputError(f"--junit: there is no folder {folder}; make it, or name another file")


def _write_junit(place: Path | None, rows: tuple[GateRow, ...], name: str) -> None:
    if place is None:
        return
    from core.reports.junit import junit

    try:
        write_durably(place, junit(rows, name))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(
            f"--junit {printable(str(place))}: cannot be written: {reason}; name another file"
        ) from None
    narrate(f"wrote {printable(str(place))}")
