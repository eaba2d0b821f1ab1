"""One case of a run in full, as screens show it: sources from the frozen tree, rankings from evidence."""
