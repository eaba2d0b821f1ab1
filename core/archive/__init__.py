"""A run as one file, to be moved to another machine and checked there."""
