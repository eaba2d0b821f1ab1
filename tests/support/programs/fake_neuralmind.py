"""Stands in for `neuralmind` and `graphify`: the same commands, files and answers, by words, not vectors.

It is installed under either name. `faults.json` beside it maps an act (`graph`, `build`, `search`, `query`,
`help`) to what goes wrong there.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import struct
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

DEFINITION = re.compile(r"^\s*(?:def|class) (\w+)", re.MULTILINE)
IMPORT = re.compile(r"^import (\w+)", re.MULTILINE)
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
GRAPH = Path("graphify-out", "graph.json")
STATE = Path(".neuralmind")
STORE = STATE / "neuralmind_turbovec" / "store.sqlite"
VECTORS = STATE / "neuralmind_turbovec" / "index.tvim"
OPTIONS = {"search": "--n N --json", "query": "--json --no-learn", "build": "--force --json"}
BYTES_A_VECTOR = 384 * 4 // 8


def main(program: str, arguments: list[str]) -> None:
    if arguments == ["--version"]:
        print(f"{fault('name') or program} 9.9.9")
    elif program == "graphify" and arguments == ["update", "."]:
        update()
    elif arguments[1:] == ["--help"]:
        print(fault("help") or OPTIONS[arguments[0]])
    elif arguments == ["build", ".", "--force"]:
        build()
    elif arguments[:4] == ["search", ".", "--json", "--n"] and arguments[5] == "--":
        search(arguments[6], int(arguments[4]))
    elif arguments[:5] == ["query", ".", "--json", "--no-learn", "--"]:
        query(arguments[5])
    else:
        sys.exit(f"usage: {program}: {arguments}")


def update() -> None:
    print("Re-extracting code files in . (no LLM needed)...")
    nodes = []
    for path in sorted(Path().rglob("*")):
        if path.suffix not in {".py", ".md"} or ".git" in path.parts:
            continue
        text = path.read_text(errors="replace")
        kind, pattern = ("code", DEFINITION) if path.suffix == ".py" else ("document", HEADING)
        nodes += [node(label, kind, path.as_posix()) for label in pattern.findall(text)]
        nodes += [node(label, "concept", "") for label in IMPORT.findall(text)]
    if not nodes:
        print("[graphify watch] No code files found - nothing to rebuild.")
        sys.exit(1)
    if fault("graph") == "empty":
        nodes = []
    GRAPH.parent.mkdir()
    GRAPH.write_text(json.dumps({"nodes": nodes, "links": []}))


def node(label: str, kind: str, file: str) -> dict[str, str]:
    return {"id": f"{file}:{label}", "label": label, "file_type": kind, "source_file": file}


def build() -> None:
    model = Path(os.environ["NEURALMIND_ONNX_MODEL_DIR"])
    if not (model / "model.onnx").is_file() or not (model / "tokenizer.json").is_file():
        sys.exit("downloading the model")
    print("Building NeuralMind index for: .")
    nodes = json.loads(GRAPH.read_text())["nodes"]
    if fault("build") == "loses_nodes":
        nodes = nodes[:-2]
    STORE.parent.mkdir(parents=True)
    with closing(sqlite3.connect(STORE)) as store, store:
        store.execute("CREATE TABLE nodes (uid INTEGER PRIMARY KEY, node_id TEXT, document TEXT)")
        store.execute("CREATE TABLE meta (key TEXT, value TEXT)")
        store.executemany("INSERT INTO meta VALUES (?, ?)", [("dim", "384"), ("bit_width", "4")])
        rows = [(each["id"], json.dumps(each)) for each in nodes]
        store.executemany("INSERT INTO nodes (node_id, document) VALUES (?, ?)", rows)
    vectors = len(nodes) - (3 if fault("build") == "loses_vectors" else 0)
    head = b"TV8\x00\x01\x04\x01\x00\x80\x01\x00\x00".ljust(164, b"\0") + struct.pack("<I", vectors)
    VECTORS.write_bytes(head + bytes(len(nodes) * BYTES_A_VECTOR))
    with closing(sqlite3.connect(STATE / "synapses.db")) as learned, learned:
        learned.execute("CREATE TABLE synapses (node_a TEXT)")
    log("build")
    print("Build successful!")


def search(text: str, count: int) -> None:
    rows = found(text)[:count]
    kind = fault("search")
    files = [row["metadata"] for row in rows]
    if kind == "error_object":
        answer({"error": "no index"})
    elif kind == "banner":
        print("Loading index…")
        answer(rows)
    elif kind == "other_command":
        query(text)
    elif kind == "exits_1":
        sys.exit("No index for this project.")
    else:
        if kind == "absolute":
            for file in files:
                file["source_file"] = str(Path.cwd() / file["source_file"])
        elif kind == "outside":
            files[0]["source_file"] = "/etc/passwd"
        elif kind == "learns":
            with closing(sqlite3.connect(STATE / "synapses.db")) as learned, learned:
                learned.execute("INSERT INTO synapses VALUES (?)", (text,))
        answer(rows)


def query(text: str) -> None:
    if fault("query") == "error_object":
        answer({"error": "no index"})
        return
    results = "\n".join(
        f"{rank}. **{row['metadata']['label']}**\n   Type: code\n   File: {row['metadata']['source_file']}\n"
        for rank, row in enumerate(found(text), start=1)
    )
    answer({"query": text, "tokens": 9, "context": f"## Project\n\n## Search Results\n\n{results}"})


def found(text: str) -> list[dict[str, Any]]:
    for name in ("NEURALMIND_NO_LEARN", "NEURALMIND_NO_DAEMON"):
        assert os.environ[name] == "1"
    assert not any(Path.home().iterdir())
    log(text)
    with closing(sqlite3.connect(f"file:{STORE}?mode=ro", uri=True)) as store:
        nodes = [json.loads(row[0]) for row in store.execute("SELECT document FROM nodes ORDER BY uid")]
    words = set(re.findall(r"\w+", text.lower()))
    nodes.sort(key=lambda each: len(words & set(re.findall(r"[^\W_]+", each["label"].lower()))), reverse=True)
    return [{"id": each["id"], "metadata": each, "score": 1 / rank} for rank, each in enumerate(nodes, 1)]


def log(text: str) -> None:
    with (STATE / "audit_events.jsonl").open("a") as stream:
        stream.write(json.dumps(text) + "\n")


def answer(document: Any) -> None:
    print(json.dumps(document, indent=2))


def fault(act: str) -> str | None:
    faults = Path(__file__).with_name("faults.json")
    return json.loads(faults.read_text()).get(act) if faults.exists() else None


if __name__ == "__main__":
    main(Path(sys.argv[0]).name, sys.argv[1:])
