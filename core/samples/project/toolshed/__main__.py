"""The command line for volunteers: `python -m toolshed JOURNAL popular|quiet|weekday`."""

from __future__ import annotations

import sys
from pathlib import Path

from toolshed.errors import ShedError
from toolshed.journal import Journal
from toolshed.statistics import busiest_weekday, never_borrowed, popularity

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def report(journal: Journal, what: str) -> str:
    """Answer one of the three questions that the meeting always asks."""
    events = list(journal.replay())
    if what == "popular":
        return "\n".join(f"{count:4d}  {label}" for label, count in popularity(events))
    if what == "quiet":
        owned = [event["label"] for event in events if event["kind"] == "added"]
        return "\n".join(never_borrowed(owned, events))
    if what == "weekday":
        return WEEKDAYS[busiest_weekday(events)]
    raise ValueError("ask for popular, quiet or weekday")


def main(arguments: list[str]) -> int:
    """Print a report and return the exit status of the program."""
    if len(arguments) != 2:
        print("usage: python -m toolshed JOURNAL popular|quiet|weekday", file=sys.stderr)
        return 2
    try:
        print(report(Journal(Path(arguments[0])), arguments[1]))
    except (ShedError, ValueError) as error:
        print(f"toolshed: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
