"""One module a screen; a screen shows a run and owns none."""
