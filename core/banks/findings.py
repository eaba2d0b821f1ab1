"""What checking a bank can find."""

from __future__ import annotations

from typing import Literal, NamedTuple

Reason = Literal[
    "digest_differs",
    "module_ungraded",
    "not_a_module",
    "not_derived",
    "provenance_edited",
    "query_edited",
    "target_moved",
    "unknown_commit",
    "unknown_repository",
    "unparsable_by_this_python",
]


class Finding(NamedTuple):
    """A case that its source does not bear out, and why.

    The sentence is safe to show; of a private repository it tells neither query nor path.
    """

    case_id: str
    repository: str
    reason: Reason
    sentence: str
