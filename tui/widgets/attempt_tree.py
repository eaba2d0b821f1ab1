"""The tree of a run's operations; branches are asked for when opened, and stay open when it is rebuilt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Tree
from textual.widgets.tree import TreeNode

from core.browse.branches import Branch
from tui.attempts.text import branch_label
from tui.text import cell

LABEL_LIMIT = 120


class AttemptTree(Tree[Branch]):
    """Holds at most a page of operations below a branch, whatever the size of the run."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right", "open_branch", "Open", show=False, id="attempts.open_branch"),
        Binding("left", "close_branch", "Close", show=False, id="attempts.close_branch"),
    ]

    @dataclass
    class Wanted(Message):
        """What stands below a branch is needed; answer with `fill`."""

        node: TreeNode[Branch]
        branch: Branch

    @dataclass
    class Opened(Message):
        """An attempt was chosen."""

        branch: Branch

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(cell("run"), id=id)
        self.show_root = False
        self.guide_depth = 2
        self.opened: set[str] = set()  # keys of branches that stand open
        self.sought: str | None = None  # the branch that the cursor is to be on once it is there
        self._filled: set[int] = set()

    def rebuild(self, branches: Sequence[Branch]) -> None:
        """Show topmost branches anew; what was open is asked for again, the cursor goes where it was."""
        chosen = self.chosen
        if self.sought is None and chosen is not None:
            self.sought = chosen.key
        self._filled.clear()
        self.clear()
        self.cursor_line = -1  # so that whatever it comes to be on is told of
        self._add(self.root, branches)
        self.root.expand()
        self.call_after_refresh(self._put_cursor)

    def _put_cursor(self) -> None:
        """Give the cursor a place; what is sought may come later, with its branch."""
        if self.cursor_line < 0 and self.root.children:
            self.cursor_line = 0

    def action_open_branch(self) -> None:
        """Open the branch under the cursor, or go to the first below it where it is open."""
        node = self.cursor_node
        if node is None or not node.allow_expand:
            return
        if node.is_collapsed:
            node.expand()
        elif node.children:
            self.move_cursor(node.children[0])

    def action_close_branch(self) -> None:
        """Close the branch under the cursor, or go to the one above it."""
        node = self.cursor_node
        if node is None:
            return
        if node.is_expanded and node.allow_expand:
            node.collapse()
        elif node.parent is not None and node.parent is not self.root:
            self.move_cursor(node.parent)

    def on_key(self) -> None:
        """Let the cursor go where the person moves it."""
        self.sought = None

    @property
    def chosen(self) -> Branch | None:
        """The branch under the cursor."""
        node = self.cursor_node
        return node.data if node is not None else None

    def fill(self, node: TreeNode[Branch], branches: Sequence[Branch]) -> None:
        """Put what was asked for below a node that is still there."""
        if node.id not in self._filled:
            return
        node.remove_children()
        self._add(node, branches)
        if not branches:
            node.add_leaf(cell("nothing here"))
        only = node.children[0] if len(branches) == 1 else None
        if only is not None and only.data is not None and only.data.kind == "cell":
            only.expand()

    def _add(self, node: TreeNode[Branch], branches: Sequence[Branch]) -> None:
        for branch in branches:
            label = cell(branch_label(branch, node.data), LABEL_LIMIT)
            if branch.kind in {"attempt", "page"}:
                added = node.add_leaf(label, branch)
            else:
                added = node.add(label, branch, expand=False)
            if branch.key in self.opened and added.allow_expand:
                added.expand()
            if branch.key == self.sought:
                self.sought = None
                self.call_after_refresh(self.move_cursor, added)

    def on_tree_node_expanded(self, event: Tree.NodeExpanded[Branch]) -> None:
        """Ask for what stands below a branch that was never open."""
        event.stop()
        branch = event.node.data
        if branch is None:
            return
        self.opened.add(branch.key)
        if event.node.id not in self._filled:
            self._filled.add(event.node.id)
            event.node.add_leaf(cell("reading…"))
            self.post_message(self.Wanted(event.node, branch))

    def on_tree_node_collapsed(self, event: Tree.NodeCollapsed[Branch]) -> None:
        """Remember that a branch is closed."""
        event.stop()
        if event.node.data is not None:
            self.opened.discard(event.node.data.key)

    def on_tree_node_selected(self, event: Tree.NodeSelected[Branch]) -> None:
        """Open an attempt; turn to another page of operations."""
        event.stop()
        branch, parent = event.node.data, event.node.parent
        if branch is None:
            return
        if branch.kind == "attempt":
            self.post_message(self.Opened(branch))
        elif branch.kind == "page" and parent is not None and parent.data is not None:
            self.move_cursor(parent)
            parent.data = parent.data._replace(offset=branch.offset)
            self.post_message(self.Wanted(parent, parent.data))
