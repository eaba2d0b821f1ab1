"""What the form says of a repository: which commit is meant, and what it could be asked."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from core.campaign.yields import find_yields, head_line, read_head, yield_lines
from core.errors import InputError, StoppedError
from core.text import printable, printable_lines

KEPT = 30
TOLD_EVERY = 50  # files


class RepositoryNotes:
    """Looks at repositories and remembers what it saw; for threads."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, str], str] = OrderedDict()

    def tell(
        self,
        path: Path,
        entry: Mapping[str, Any],
        show: Callable[[str], None],
        is_cancelled: Callable[[], bool],
    ) -> None:
        """Show a repository's commit at once, then what each intent could yield, with progress."""
        commit = entry.get("commit")
        try:
            head = read_head(path, commit if isinstance(commit, str) and commit else None)
        except (InputError, OSError):
            show("")  # the problems say why
            return
        first = f"Commit: {printable(head_line(head))}"
        key = (str(path), head.commit)
        if key in self._known:
            show(f"{first}\n{self._known[key]}")
            return
        show(f"{first}\nCounting what it could be asked …")

        def on_file(done: int, total: int) -> None:
            if is_cancelled():
                raise StoppedError("another repository is looked at")
            if done % TOLD_EVERY == 0:
                show(f"{first}\nCounting what it could be asked: {done:,} of {total:,} files …")

        try:
            found = find_yields(path, label="repository", commit=head.commit, on_file=on_file)
            text = "\n".join(["Cases that it could yield:", *yield_lines(found.derivation)])
        except StoppedError:
            return
        except (InputError, OSError) as error:
            text = printable_lines(str(error))
        self._known[key] = text
        while len(self._known) > KEPT:
            self._known.popitem(last=False)
        show(f"{first}\n{text}")
