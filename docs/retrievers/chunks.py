"""A chunk retriever as small as one can be: files in pieces of 20 lines, ranked by the words that they share.

    chunks.py index REPOSITORY STATE
    chunks.py count STATE
    chunks.py search|context STATE code|prose|all LIMIT -- QUERY

It prints JSON of its own making, which a manifest's `answer` maps onto what Boresight reads.
"""

import json
import math
import os
import re
import sys
from collections import Counter
from pathlib import Path

LINES = 20
PROSE = {".md", ".rst", ".txt"}
WORD = re.compile(r"[a-z]{2,}")


def words(text):
    """Return the words of a text, those of `snakeAndCamelCase` apart."""
    return WORD.findall(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text).lower())


def index(repository, state):
    """Cut every text file of the repository into chunks, and keep them with the words that they hold."""
    chunks = []
    for place, folders, names in os.walk(repository):
        folders[:] = sorted(name for name in folders if name != ".git")
        for name in sorted(names):
            path = Path(place, name)
            try:
                lines = path.read_text(encoding="utf-8").splitlines()
            except (OSError, UnicodeDecodeError):
                continue
            for start in range(0, len(lines), LINES):
                text = "\n".join(lines[start : start + LINES])
                chunk = {"file": path.relative_to(repository).as_posix(), "from": start + 1, "text": text}
                chunks.append({**chunk, "to": start + len(lines[start : start + LINES])})
    Path(state, "chunks.json").write_text(json.dumps(chunks))


def count(state):
    """Print how many chunks the index holds."""
    print(json.dumps({"units": len(load(state))}))


def search(state, kind, limit, query, with_text):
    """Print the chunks that share the rarest words with a query, best first; ties by file and line."""
    chunks = [chunk for chunk in load(state) if kind in ("all", kind_of(chunk))]
    counts = [Counter(words(chunk["text"] + " " + chunk["file"])) for chunk in chunks]
    holding = Counter(word for found in counts for word in found)
    asked = holding.keys() & set(words(query))
    wanted = {word: math.log(1 + len(chunks) / holding[word]) for word in asked}
    hits = []
    for chunk, found in zip(chunks, counts, strict=True):
        weight = sum(rarity * found[word] / (found[word] + 1) for word, rarity in sorted(wanted.items()))
        if weight > 0:
            hits.append((-weight, chunk["file"], chunk["from"], chunk))
    rows = [row(chunk, -weight, with_text) for weight, _, _, chunk in sorted(hits, key=lambda hit: hit[:3])]
    print(json.dumps({"status": "ok", "hits": rows[:limit]}))


def row(chunk, weight, with_text):
    """Return what is printed of a chunk."""
    told = {"file": chunk["file"], "span": {"from": chunk["from"], "to": chunk["to"]}, "weight": weight}
    return {**told, "text": chunk["text"]} if with_text else told


def kind_of(chunk):
    """Tell code from prose."""
    return "prose" if Path(chunk["file"]).suffix in PROSE else "code"


def load(state):
    """Return the index."""
    return json.loads(Path(state, "chunks.json").read_text())


def main(action, *rest):
    """Do what the command line says."""
    if action == "index":
        index(*rest)
    elif action == "count":
        count(*rest)
    else:
        state, kind, limit, _, query = rest
        search(state, kind, int(limit), query, with_text=action == "context")


if __name__ == "__main__":
    main(*sys.argv[1:])
