"""A session: finds Python definitions by the words in their names and docstrings, and stays to be asked more.

    definitions.py REPOSITORY

Each line of stdin is a JSON object with `id`, `do`, `channel`, `text` and `limit`; each answer is one line on
stdout with the same `id`. Everything else that a tool has to say belongs on stderr.
"""

import ast
import json
import os
import re
import sys
from pathlib import Path

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def words(text):
    """Return the words of a text, in small letters."""
    return set(re.findall(r"[a-z]{3,}", text.replace("_", " ").lower()))


def definitions(repository):
    """Yield (path, line, name, words) of every definition that parses."""
    for place, folders, names in os.walk(repository):
        folders[:] = sorted(name for name in folders if name != ".git")
        for name in sorted(names):
            path = Path(place, name)
            if path.suffix != ".py":
                continue
            try:
                tree = ast.parse(path.read_bytes())
            except (OSError, SyntaxError, ValueError):
                print(f"passed over {path.name}: it does not parse", file=sys.stderr)
                continue
            for node in ast.walk(tree):
                if isinstance(node, DEFINITIONS):
                    told = words(f"{node.name} {ast.get_docstring(node) or ''}")
                    yield path.relative_to(repository).as_posix(), node.lineno, node.name, told


def answer(known, request):
    """Return the ranking for one request: the name itself first, then by shared words; ties by place."""
    asked = words(request["text"])
    found = []
    for path, line, name, told in known:
        score = 1000 * (name in request["text"].split()) + len(asked & told)
        if score:
            found.append((-score, path, line))
    rows = [
        {"path": path, "line": line, "kind": "symbol", "score": -score} for score, path, line in sorted(found)
    ]
    return {"format": "boresight-ranking@1", "id": request["id"], "results": rows[: request["limit"]]}


def main(repository):
    """Read the repository once, then answer line by line."""
    known = list(definitions(repository))
    for line in sys.stdin:
        print(json.dumps(answer(known, json.loads(line))), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
