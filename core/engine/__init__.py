"""Running it: the engine, its supervisor and their events."""
