"""What it is worth: pure functions from rankings to scores and verdicts."""
