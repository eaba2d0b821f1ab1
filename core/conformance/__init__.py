"""Trying a retriever out before it is measured: one query, or a suite that says what to mend."""
