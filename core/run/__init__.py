"""What is kept: the run directory, evidence, events and the lock."""
