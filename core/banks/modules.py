"""Which files of a repository are modules that a graded bank must grade."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from pydantic import Field

from core.validation import InputModel

SOURCE_ENDINGS = (
    ".c", ".cc", ".clj", ".cpp", ".cs", ".dart", ".ex", ".exs", ".erl", ".fs", ".go", ".h", ".hpp", ".hs",
    ".java", ".jl", ".js", ".jsx", ".kt", ".lua", ".m", ".ml", ".php", ".pl", ".py", ".pyx", ".r", ".rb",
    ".rs", ".scala", ".sh", ".swift", ".ts", ".tsx", ".vue", ".zig",
)  # fmt: skip
_ENTRY_FILE = "__init__"


class ModuleRules(InputModel):
    """Which files count: those that match `include` (default: source files by ending) and no `exclude`.

    Patterns are `fnmatch`'s on the whole path, where `*` also matches `/`. Files that are empty or blank,
    and those named `__init__` whatever their ending, never count.
    """

    include: list[str] = Field(default=[], max_length=1000)
    exclude: list[str] = Field(default=[], max_length=1000)

    def admits(self, path: str) -> bool:
        """Tell whether a path counts, apart from what the file holds."""
        name = PurePosixPath(path)
        if name.stem == _ENTRY_FILE:
            return False
        wanted = (
            any(fnmatchcase(path, pattern) for pattern in self.include)
            if self.include
            else name.suffix.lower() in SOURCE_ENDINGS
        )
        return wanted and not any(fnmatchcase(path, pattern) for pattern in self.exclude)
