"""A tool of one's own that gets wrong what a query asks it to: `own_tool.py REPOSITORY LIMIT -- QUERY`.

The query's first word names the fault; every other query finds each line of a Python file that holds it.
As `own_tool.py serve REPOSITORY` it answers JSON lines.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

ROW: dict[str, Any] = {"file": "store/records.py", "at": 4}
ANSWER: dict[str, Any] = {"command": "search", "hits": [ROW]}


def search(repository: str, text: str, limit: int) -> dict[str, Any]:
    hits = [
        {"file": path.relative_to(repository).as_posix(), "at": number}
        for path in sorted(Path(repository).rglob("*"))
        if path.suffix in {".py", ".md"}
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if text.lower() in line.lower()
    ]
    return {**ANSWER, "hits": hits[:limit]}


def faulty(fault: str, repository: str) -> str | None:
    row = ROW
    rows = {
        "outside": [{**row, "file": "../elsewhere.py"}],
        "absolute-outside": [{**row, "file": "/etc/passwd"}],
        "absolute-inside": [{**row, "file": f"{repository}/store/records.py"}],
        "twice": [row, row, {**row, "at": 9}],
        "no-lines": [{"file": "store/records.py"}],
        "surplus": [{**row, "at": number} for number in range(1, 100)],
        "lost": [{**row, "file": "store/gone.py"}],
        "beyond": [{**row, "at": 100_000}],
    }
    whole = {
        "banner": f"Loading the model...\n{json.dumps(ANSWER)}",
        "error-object": '{"error": "no such index", "hits": []}',
        "other-command": '{"command": "stats", "hits": []}',
        "nothing": "",
    }
    if fault in rows:
        return json.dumps({**ANSWER, "hits": rows[fault]})
    return whole.get(fault)


def main(repository: str, limit: str, dashes: str, text: str) -> None:
    assert dashes == "--"
    fault = text.split()[0] if text.split() else ""
    if fault == "noise":
        print("warning: a cache is stale\n" * 1000, file=sys.stderr)
    elif fault == "secret":
        print(os.environ["OWN_TOOL_KEY"], file=sys.stderr)
        sys.exit(3)
    elif fault == "random":
        time.sleep(0)
        print(json.dumps({**ANSWER, "hits": [{"file": "store/records.py", "at": time.time_ns() % 20 + 1}]}))
        return
    elif fault == "writes":
        Path(repository, "cache.tmp").write_text("x")
    said = faulty(fault, repository)
    print(said if said is not None else json.dumps(search(repository, text, int(limit))))


def serve(repository: str) -> None:
    for line in sys.stdin:
        request = json.loads(line)
        found = search(repository, request["text"], request["limit"])
        number = "another" if request["text"] == "out-of-step" else request["id"]
        print(json.dumps({"id": number, **found}), flush=True)


if __name__ == "__main__":
    serve(sys.argv[2]) if sys.argv[1] == "serve" else main(*sys.argv[1:])
