"""What says the opposite: words that negate, and choices of which a system makes one. Data alone."""

from __future__ import annotations

NEGATIONS = frozenset({"cannot", "neither", "never", "no", "nor", "not", "nothing", "unable", "without"})
"""Words that turn round what follows them; not `none`, as `-> None:` stands before many a docstring."""

CONTRACTED = frozenset(
    {
        "aren", "can", "couldn", "didn", "doesn", "don", "hadn", "hasn", "haven", "isn", "mustn", "shouldn",
        "wasn", "weren", "won", "wouldn",
    }
)  # fmt: skip
"""What stands before the `t` of `isn't`, as words are cut at the apostrophe."""

EXCLUSIVE_PAIRS: tuple[tuple[str, str], ...] = (
    ("ascending", "descending"),
    ("asymmetric", "symmetric"),
    ("async", "sync"),
    ("asynchronous", "synchronous"),
    ("bcrypt", "md5"),
    ("blocking", "nonblocking"),
    ("case-insensitive", "case-sensitive"),
    ("hard-delete", "soft-delete"),
    ("hs256", "rs256"),
    ("immutable", "mutable"),
    ("jwt", "oauth"),
    ("mongodb", "postgresql"),
    ("mysql", "postgresql"),
    ("mysql", "sqlite"),
    ("optional", "required"),
    ("paypal", "stripe"),
    ("postgres", "sqlite"),
    ("postgresql", "sqlite"),
    ("sha1", "sha256"),
)
"""A fact that names one, before a context that names only the other, is contradicted. `-` joins words."""
