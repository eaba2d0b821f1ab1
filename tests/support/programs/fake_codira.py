"""Mimics the Codira CLI's protocol, with its two databases, by words instead of vectors.

`tests/support/codira.py` makes executables of it. `behaviour` says which version it plays, and what fails:

    version       what `--version` tells
    daemons       whether it has the settings `daemon` and `query_daemon`; without them they are an error
    limit         the option of `emb` and `docs` that limits rows
    ctx_limit     the same of `ctx`, which has none by default
    plugins       those that are loaded, as [family, name]
    index         what becomes of the index: "sound", or a fault of `_break`
    print         {command: text} printed instead of the answer, with exit code 0
    before        {command: text} printed before the answer
    stderr        text printed to stderr at every call
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import re
import sqlite3
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

_SETTINGS: dict[str, Any] = {
    "config_version": 1,
    "backend": {"name": "sqlite"},
    "embeddings": {
        "enabled": True,
        "engine": "onnx",
        "vector_store": "sqlite",
        "model": "m",
        "version": "1",
        "dimension": 384,
        "device": "cpu",
        "batch_size": 32,
        "indexing": {"mode": "immediate", "object_types": [], "max_text_chars": 0},
    },
}
_DAEMONS = {"daemon": {"enabled": True}, "query_daemon": {"enabled": True}}
_STRUCTURE = """
CREATE TABLE files (id INTEGER PRIMARY KEY, path TEXT, hash TEXT);
CREATE TABLE symbol_index (id INTEGER PRIMARY KEY, name TEXT, stable_id TEXT, type TEXT, module_name TEXT,
    file_id INTEGER, lineno INTEGER);
CREATE TABLE documentation_artifacts (id INTEGER PRIMARY KEY, file_id INTEGER, stable_id TEXT, kind TEXT,
    source_format TEXT, lineno INTEGER, end_lineno INTEGER, title TEXT, text TEXT);
CREATE TABLE embeddings (id INTEGER PRIMARY KEY, object_type TEXT, object_id INTEGER, backend TEXT,
    version TEXT, content_hash TEXT, dim INTEGER, vector BLOB);
CREATE TABLE pending_embeddings (object_type TEXT, object_id INTEGER, stable_id TEXT);
"""
_VECTORS = """
CREATE TABLE vector_sets (id INTEGER PRIMARY KEY, model TEXT);
CREATE TABLE vector_payloads (id INTEGER PRIMARY KEY, vector_set_id INTEGER, content_hash TEXT);
CREATE TABLE vector_bindings (vector_set_id INTEGER, object_type TEXT, stable_id TEXT, content_hash TEXT);
CREATE TABLE pending_vectors (vector_set_id INTEGER, stable_id TEXT);
CREATE TABLE vector_payload_index_1_rowids (rowid INTEGER PRIMARY KEY, chunk_id INTEGER);
INSERT INTO vector_sets VALUES (1, 'm');
"""
_FAULTS = {
    "unbound": ("embeddings.db", "DELETE FROM vector_bindings WHERE object_type = 'symbol'"),
    "unpaid": ("embeddings.db", "DELETE FROM vector_payload_index_1_rowids"),
    "two_sets": ("embeddings.db", "INSERT INTO vector_sets VALUES (2, 'other')"),
    "empty": ("index.db", "DELETE FROM embeddings"),
}


def main(arguments: Sequence[str], behaviour: Mapping[str, Any]) -> int:
    """Play one call; return its exit status."""
    sys.stderr.write(behaviour.get("stderr", ""))
    if arguments == ["--version"]:
        print(f"codira {behaviour.get('version', '1.55.0')}\nfirst-party plugins:")
        return 0
    options = _parser(behaviour).parse_args(arguments)
    command = " ".join(filter(None, (options.command, getattr(options, "action", None))))
    if command in behaviour.get("print", {}):
        sys.stdout.write(behaviour["print"][command])
        return 0
    sys.stdout.write(behaviour.get("before", {}).get(command, ""))
    try:
        answer = _answer(command, options, behaviour)
    except ValueError as error:
        print(f"[codira] ConfigError: {error}", file=sys.stderr)
        return 2
    print(json.dumps({"schema_version": "1.0", "status": "ok", **answer}))
    return 0


def _parser(behaviour: Mapping[str, Any]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="codira")
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("caps", "plugins", "index", "emb", "docs", "ctx"):
        command = commands.add_parser(name)
        command.add_argument("-j", "--json", action="store_true")
        if name in ("index", "emb", "docs", "ctx"):
            for option in ("-p --path", "-o --output-dir", "-c --config-file"):
                command.add_argument(*option.split(), type=Path)
        if name == "index":
            command.add_argument("-f", "--full", action="store_true")
        if name in ("emb", "docs", "ctx"):
            default = None if name == "ctx" else "--limit"
            limit = behaviour.get("ctx_limit" if name == "ctx" else "limit", default)
            if limit:
                command.add_argument("-l", limit, type=int, dest="limit", default=10)
            command.add_argument("query", help="such as codira emb words --limit 3 or --max-results 3")
    actions = commands.add_parser("config").add_subparsers(dest="action", required=True)
    for name in ("dump", "validate"):
        action = actions.add_parser(name)
        action.add_argument("-j", "--json", action="store_true")
        action.add_argument("-c", "--config-file", type=Path)
    return parser


def _answer(command: str, options: argparse.Namespace, behaviour: Mapping[str, Any]) -> dict[str, Any]:
    if command == "caps":
        return {"commands": ["index", "emb", "docs", "ctx"], "version": behaviour.get("version")}
    if command == "plugins":
        every = [["backend", "sqlite"], ["vector-store", "sqlite"], ["embedding", "onnx"]]
        every += [["embedding", "sentence-transformers"], ["analyzer", "python"], ["analyzer", "markdown"]]
        loaded = behaviour.get("plugins", every)
        rows = [{"family": family, "name": name, "status": "loaded"} for family, name in loaded]
        return {"command": command, "results": rows}
    if command == "config dump":
        return {"command": command, "results": _SETTINGS | (_DAEMONS if behaviour.get("daemons") else {})}
    config = tomllib.loads(options.config_file.read_text()) if options.config_file else {}
    _refuse_unknown(config, bool(behaviour.get("daemons")))
    if command == "config validate":
        return {"command": command}
    if command == "index":
        return _index(options, behaviour.get("index", "sound"))
    if command == "ctx":
        return _context(options)
    return _ranking(command, options)


def _refuse_unknown(config: Mapping[str, Any], daemons: bool) -> None:
    known = {"plugins", *_SETTINGS, *(_DAEMONS if daemons else ())}
    for key in config:
        if key not in known:
            raise ValueError(f"Unknown configuration key: {key}")


def _index(options: argparse.Namespace, fault: str) -> dict[str, Any]:
    folder = options.output_dir / ".codira"
    folder.mkdir()
    with (
        sqlite3.connect(folder / "index.db") as structure,
        sqlite3.connect(folder / "embeddings.db") as vectors,
    ):
        structure.executescript(_STRUCTURE)
        vectors.executescript(_VECTORS)
        files = sorted(path for path in options.path.rglob("*") if path.suffix in (".py", ".md"))
        for number, path in enumerate(files):
            structure.execute("INSERT INTO files VALUES (?, ?, ?)", (number, str(path), ""))
            for row in _rows(path):
                _store(structure, vectors, number, row)
        rows = structure.execute("SELECT count(*) FROM embeddings").fetchone()[0]
    structure.close()
    vectors.close()
    _break(folder, fault)
    summary = {"indexed": len(files), "failed": 0, "embeddings_recomputed": rows, "embeddings_pending": 0}
    return {"command": "index", "results": [], "summary": {**summary, "embedding_complete": True}}


def _break(folder: Path, fault: str) -> None:
    if fault == "unreadable":
        (folder / "embeddings.db").write_bytes(b"SQLite format 3\0" + bytes(5000))
    elif fault != "sound":
        database, statement = _FAULTS[fault]
        with sqlite3.connect(folder / database) as connection:
            connection.execute(statement)
        connection.close()


def _rows(path: Path) -> Iterator[tuple[str, str, int]]:
    """Yield what a file holds: its kind, its text and its line."""
    text = path.read_text()
    if path.suffix == ".md":
        for number, line in enumerate(text.splitlines(), start=1):
            if line.startswith("#"):
                yield "documentation", line.strip("# "), number
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield "symbol", f"{node.name} {ast.get_docstring(node) or ''}", node.lineno


def _store(
    structure: sqlite3.Connection, vectors: sqlite3.Connection, file: int, row: tuple[str, str, int]
) -> None:
    kind, text, line = row
    digest = hashlib.sha256(text.encode()).hexdigest()
    stable = f"{kind}:{file}:{line}"
    if kind == "symbol":
        found = structure.execute(
            "INSERT INTO symbol_index VALUES (NULL, ?, ?, 'function', 'm', ?, ?)", (text, stable, file, line)
        )
    else:
        found = structure.execute(
            "INSERT INTO documentation_artifacts VALUES (NULL, ?, ?, 'section', 'md', ?, ?, ?, ?)",
            (file, stable, line, line, text, text),
        )
    structure.execute(
        "INSERT INTO embeddings VALUES (NULL, ?, ?, 'm', '1', ?, 384, x'')", (kind, found.lastrowid, digest)
    )
    vectors.execute("INSERT INTO vector_bindings VALUES (1, ?, ?, ?)", (kind, stable, digest))
    payload = vectors.execute("INSERT INTO vector_payloads VALUES (NULL, 1, ?)", (digest,)).lastrowid
    vectors.execute("INSERT INTO vector_payload_index_1_rowids VALUES (?, 1)", (payload,))


def _matches(options: argparse.Namespace, kinds: Sequence[str]) -> list[dict[str, Any]]:
    asked = set(re.findall(r"\w+", options.query.lower()))
    found: list[dict[str, Any]] = []
    for path in sorted(options.path.rglob("*")):
        for kind, text, line in _rows(path) if path.suffix in (".py", ".md") else ():
            shared = len(asked & set(re.findall(r"\w+", text.lower())))
            if shared and kind in kinds:
                found.append({"file": str(path), "lineno": line, "type": kind, "text": text, "score": shared})
    found.sort(key=lambda row: (-row["score"], row["file"], row["lineno"]))
    return found[: getattr(options, "limit", 10)]


def _ranking(command: str, options: argparse.Namespace) -> dict[str, Any]:
    if command == "emb":
        keys = ("file", "lineno", "type", "score")
        rows = [
            {**{key: row[key] for key in keys}, "type": "function"} for row in _matches(options, ["symbol"])
        ]
    else:
        rows = [
            {**row, "kind": "section", "end_lineno": row["lineno"]}
            for row in _matches(options, ["documentation"])
        ]
    status = "ok" if rows else "no_matches"
    return {"command": command, "status": status, "query": {"text": options.query}, "results": rows}


def _context(options: argparse.Namespace) -> dict[str, Any]:
    rows = _matches(options, ["symbol", "documentation"])
    return {
        "schema_version": "1.3",
        "status": "ok" if rows else "no_matches",
        "top_matches": [
            {"type": row["type"], "file": row["file"], "lineno": row["lineno"], "confidence": 1.0}
            for row in rows
        ],
        "context": [[f"{row['type']} {row['text']}", f"  Line: {row['lineno']}"] for row in rows],
        "module_expansion": [{"type": "function", "file": str(options.path / "never.py"), "lineno": 1}],
        "references": [{"file": str(options.path / "never.py"), "lineno": 2}],
    }
