"""Complaints that the volunteer at the counter can read out to a visitor."""


class ShedError(Exception):
    """Base of everything that can go wrong at the counter."""


class UnknownItem(ShedError):
    """A label was typed that hangs on no tool."""


class Refused(ShedError):
    """The house rules forbid what was asked for."""


class DamagedJournal(ShedError):
    """The file on disk is not what was written there."""
