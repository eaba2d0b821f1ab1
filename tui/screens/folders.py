"""A tree of folders to choose one from."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.visual import VisualType
from textual.widgets import DirectoryTree, Label

from tui.screens.base import Once
from tui.text import cell, safe

NAME = 80


class FolderTree(DirectoryTree):
    """Folders only; their names are never read as markup."""

    def filter_paths(self, paths: Iterable[Path]) -> Iterable[Path]:
        """Leave out files, and folders that a name hides."""
        return [path for path in paths if not path.name.startswith(".") and self._safe_is_dir(path)]

    def process_label(self, label: VisualType) -> Text:
        """Return a folder's name as plain text."""
        return cell(label.plain if isinstance(label, Text) else label, NAME)


class FolderDialog(Once, ModalScreen[Path | None]):
    """Answers with the folder that was chosen."""

    AUTO_FOCUS = "FolderTree"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Back"),
        Binding("s", "choose", "Choose this folder"),
        Binding("backspace,left", "up", "Parent folder"),
    ]

    def __init__(self, title: str, start: Path) -> None:
        super().__init__()
        self._title = title
        self._start = start

    def compose(self) -> ComposeResult:
        """Lay out the tree and its keys."""
        with Vertical(classes="dialog", id="folder-dialog"):
            yield Label(safe(self._title), classes="dialog-title")
            yield FolderTree(self._start, id="folder-tree")
            yield Label(
                "s choose this folder · enter open · backspace parent · esc back", classes="dialog-keys"
            )

    def action_choose(self) -> None:
        """Answer with the folder under the cursor."""
        tree = self.query_one(FolderTree)
        node = tree.cursor_node
        self.dismiss(Path(tree.path) if node is None or node.data is None else node.data.path)

    def action_up(self) -> None:
        """Show the parent of the folder that the tree begins with."""
        tree = self.query_one(FolderTree)
        tree.path = Path(tree.path).absolute().parent
