"""Keeps the books of a neighbourhood tool library: who has what, until when, and in which state."""
