"""Git histories for tests: commits whose objects hold exactly the bytes that a test wants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.support.repositories import git, hash_blob

PERSON = "A. Author <author@example.org>"


class History:
    """A repository that grows commit by commit; `files` is what the last commit holds."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files: dict[bytes, tuple[int, str]] = {}
        self.head: str | None = None
        self._time = 1704164645
        folder.mkdir(parents=True)
        git(folder, "init", "--quiet", "--initial-branch=main")

    def commit(
        self,
        message: str | bytes,
        files: Mapping[str | bytes, bytes | None],
        *,
        modes: Mapping[str | bytes, int] | None = None,
        author: str = PERSON,
        committer: str = PERSON,
        parents: Sequence[str] | None = None,
        headers: bytes = b"",
    ) -> str:
        """Add a commit that writes `files` (None deletes one) and return its id.

        Modes are as in `make_repository`. `headers` follow the committer's line, each with its line end;
        `parents` are the last commit unless given.
        """
        for name, content in files.items():
            path = name if isinstance(name, bytes) else name.encode()
            mode = (modes or {}).get(name, 0o100644)
            if content is None:
                del self.files[path]
            else:
                oid = content.decode() if mode == 0o160000 else hash_blob(self.folder, content)
                self.files[path] = (mode, oid)
        tree = self._tree()
        own = [self.head] if parents is None and self.head else list(parents or ())
        self._time += 60
        text = f"tree {tree}\n" + "".join(f"parent {parent}\n" for parent in own)
        text += f"author {author} {self._time} +0000\ncommitter {committer} {self._time} +0000\n"
        body = message if isinstance(message, bytes) else message.encode()
        words = ("hash-object", "-t", "commit", "-w", "--stdin", "--literally")
        self.head = git(self.folder, *words, stdin=text.encode() + headers + b"\n" + body).decode().strip()
        git(self.folder, "update-ref", "HEAD", self.head)
        return self.head

    def _tree(self) -> str:
        git(self.folder, "read-tree", "--empty")
        records = [f"{mode:06o} {oid}\t".encode() + path + b"\0" for path, (mode, oid) in self.files.items()]
        git(self.folder, "update-index", "-z", "--index-info", stdin=b"".join(records))
        return git(self.folder, "write-tree").decode().strip()
