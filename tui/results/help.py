"""The keys of the results screen, and how to read its figures."""

from __future__ import annotations

HELP = (
    "What a run says. All figures are derived from its evidence, whose digests are verified first.\n\n"
    "enter  the queries behind the figure under the cursor, those lost to the baseline first\n"
    "l      of these only the ones that the candidate does not hit\n"
    "a      the candidate's attempts\n"
    "m      macro (repositories weigh the same) or micro (queries do)\n"
    "t      the next metric; on Cost the next channel\n"
    "s      sort by the column under the cursor: one way, the other, as at first (or click its head)\n"
    "/      only candidates whose name holds a text\n"
    "] [    next tab, tab before (also ← → on the tabs themselves)\n"
    "v      the verdict in full, with cautions and limits\n"
    "g      gates: does the run keep to its floors?\n"
    "y Y    copy the figure, the row\n"
    "x      export the table; rows of private repositories are withheld\n"
    "e      open quality-summary.md in an editor\n"
    "f5     read the run again, as while it goes on\n"
    "esc    take the filter away, then go back\n\n"
    "Hit@k, Recall@k and MRR@k are of known targets, with graded banks of relevant modules (the tab Graded "
    "has all of their metrics, and why questions failed). What was not answered scores 0 and stays in every "
    "denominator. In brackets stands the 95 % interval; Δ is the difference to the baseline, p is "
    "adjusted (Holm), and 'detects' is the smallest difference that cases like these would show four "
    "times in five by a single 5 % test. A bar beside a number only repeats it."
)
