"""A retriever whose faults are written in its configuration; finds `def NAME` by name, standard library only.

    fake_tool.py CONFIG index REPOSITORY STATE
    fake_tool.py CONFIG query|probe REPOSITORY STATE CHANNEL LIMIT -- TEXT
    fake_tool.py CONFIG session REPOSITORY STATE

CONFIG is JSON: `index` names a fault of indexing; `faults` maps a part of a query's text to a fault of
its answer; `once` names a file: faults happen only until it exists, and the first fault makes it;
`until` names a file that a test makes: faults happen until it exists.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

DEFINITION = re.compile(r"(?:def|class) (\w+)")


def main(config_path: str, action: str, repository: str, state: str, *rest: str) -> None:
    config = json.loads(Path(config_path).read_text())
    if action == "index":
        index(config, Path(repository), Path(state))
    elif action == "session":
        if config.get("banner"):
            print("Model loaded.", flush=True)
        for line in sys.stdin:
            request = json.loads(line)
            answer(config, state, request["do"], request["text"], request["limit"], request["id"])
    else:
        _, limit, dashes, text = rest
        assert dashes == "--"
        answer(config, state, action, text, int(limit))


def index(config: dict[str, Any], repository: Path, state: Path) -> None:
    fault = due(config, config.get("index"))
    places = []
    for path in sorted(repository.rglob("*")):
        if path.suffix in {".py", ".md"} and ".git" not in path.parts:
            for number, line in enumerate(path.read_text(errors="replace").splitlines(), start=1):
                found = DEFINITION.search(line)
                if found:
                    places.append([found[1], path.relative_to(repository).as_posix(), number])
    if fault == "dies":
        print("no such model", file=sys.stderr)
        sys.exit(3)
    if fault == "slow":
        time.sleep(60)
    if fault == "fills":
        fill(Path(config["ballast"]))
    if fault == "helper":
        start_helper()
    if fault == "writes_home":
        (Path.home() / ".fake_tool").write_text("here")
    if fault == "empty":
        places = []
    if fault == "litters":
        (repository / "cache").mkdir()
        (repository / "cache" / "leak.py").write_text("def leaked(): ...\n")
    if fault == "edits":
        (repository / "store" / "records.py").write_text("")
    declared = len(places) + (5 if fault == "incomplete" else 0)
    (state / "index.json").write_text(json.dumps({"declared": declared, "places": places}))
    print(json.dumps({"units": declared}))


def answer(
    config: dict[str, Any], state: str, action: str, text: str, limit: int, number: str | None = None
) -> None:
    time.sleep(config.get("slowness", 0))
    fault = due(config, next((f for part, f in config.get("faults", {}).items() if part in text), None))
    places = json.loads((Path(state) / "index.json").read_text())["places"]
    words = set(re.findall(r"\w+", text))
    ordered = sorted(places, key=lambda place: place[0] not in words)[:limit]
    rows = [{"path": path, "line": line, "kind": "symbol"} for _, path, line in ordered]
    document = {"format": f"boresight-{'context' if action == 'probe' else 'ranking'}@1", "results": rows}
    if number is not None:
        document["id"] = number
    if action == "probe":
        for row in rows:
            row["excerpt"] = "…"
    if fault == "fills":
        fill(Path(config["ballast"]))
    if fault == "litters":
        Path(sys.argv[3], "leak.py").write_text("def leaked(): ...\n")  # into the repository
    emit(fault, document)


def fill(ballast: Path) -> None:
    """Take all that is left of a file system."""
    with ballast.open("ab", buffering=0) as stream:
        try:
            while stream.write(b"x" * 4096):
                pass
        except OSError:
            pass


def start_helper() -> None:
    """Leave a process that ends neither with this one nor by a polite signal."""
    command = ["sh", "-c", "trap '' TERM HUP INT; sleep 60"]
    null = subprocess.DEVNULL
    subprocess.Popen(command, start_new_session=True, stdin=null, stdout=null, stderr=null)


def emit(fault: str | None, document: dict[str, Any]) -> None:
    rows = document["results"]
    text = None
    if fault == "helper":
        start_helper()
    elif fault == "stubborn":
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        time.sleep(60)
    elif fault == "swarm":
        for _ in range(200):
            if os.fork() == 0:
                os.setsid()
                time.sleep(60)
        time.sleep(60)
    elif fault == "deaf":
        os.close(1)
        time.sleep(60)
    elif fault == "lingers":
        print(json.dumps(document), flush=True)
        time.sleep(60)
    elif fault == "exit_3":
        print("something broke", file=sys.stderr)
        sys.exit(3)
    elif fault == "killed":
        os.kill(os.getpid(), 9)
    elif fault == "hang_2":
        time.sleep(2)
    elif fault == "hang":
        time.sleep(60)
    elif fault == "orphan":
        subprocess.Popen(["sleep", "60"], start_new_session=True)
        time.sleep(60)
    elif fault == "flood":
        while True:
            sys.stdout.write("x" * 1_000_000)
    elif fault == "bad_utf8":
        text = b'{"format": "\xff"}'
    elif fault == "truncated":
        text = json.dumps(document)[:-5].encode()
    elif fault == "empty":
        text = b""
    elif fault == "wrong_shape":
        text = b'["not", "an", "object"]'
    elif fault == "duplicate_key":
        text = b'{"format": "boresight-ranking@1", "format": "boresight-ranking@1", "results": []}'
    elif fault == "outside":
        rows[0]["path"] = "../../etc/passwd"
    elif fault == "absolute":
        rows[0]["path"] = "/etc/passwd"
    elif fault == "nan":
        rows[0]["score"] = float("nan")
    elif fault == "surplus":
        rows.extend({**rows[0], "path": f"more-{number}.py"} for number in range(200))
    elif fault == "twice":
        rows.extend([dict(rows[0]), dict(rows[0])])
    elif fault == "nothing":
        rows.clear()
    elif fault == "two_lines":
        text = (json.dumps(document) + "\n" + json.dumps(document)).encode()
    sys.stdout.flush()
    sys.stdout.buffer.write((json.dumps(document).encode() if text is None else text) + b"\n")
    sys.stdout.flush()


def due(config: dict[str, Any], fault: str | None) -> str | None:
    if "until" in config and Path(config["until"]).exists():
        return None
    once = config.get("once")
    if fault is None or once is None:
        return fault
    if Path(once).exists():
        return None
    Path(once).touch()
    return fault


if __name__ == "__main__":
    main(*sys.argv[1:])
