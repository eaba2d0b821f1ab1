"""The words of each command, and which function of `core.commands` they call."""
