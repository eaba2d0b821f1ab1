"""The disposable index of a run for screens: ranks and outcomes in SQLite, rebuilt whenever it does not hold.

Nothing here is authority: reports read the evidence itself. `open_index` is where to start.
"""
