"""A search tool in the moods that a test puts it into: `moody_tool.py REPOSITORY MOODS LIMIT -- QUERY`.

It prints `path:line:text` for each definition whose name holds a word of the query. While the folder MOODS
holds a file `held` no query is answered, and while it holds `broken` queries about routes fail.
"""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path

LOOK_S = 0.02


def main(repository: str, moods: str, limit: str, dashes: str, query: str) -> None:
    assert dashes == "--"
    while Path(moods, "held").exists():
        time.sleep(LOOK_S)
    if Path(moods, "broken").exists() and "route" in query.lower():
        print("moody_tool: the map of all routes is locked", file=sys.stderr)
        sys.exit(3)
    words = {word.lower() for word in re.findall(r"\w{4,}", query)}
    found = 0
    for path in sorted(Path(repository).rglob("*.py")):
        for number, line in enumerate(path.read_text().splitlines(), start=1):
            named = re.match(r"\s*(?:def|class) (\w+)", line)
            if named and any(word in named[1].lower() for word in words) and found < int(limit):
                print(f"{path.relative_to(repository).as_posix()}:{number}:{line.strip()}")
                found += 1


if __name__ == "__main__":
    main(*sys.argv[1:])
