"""Tools that a manifest declares: their commands as templates, and how their own output is read."""
