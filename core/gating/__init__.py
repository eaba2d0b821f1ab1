"""Gates on runs: floors as people write them, held against a run, or against an older run."""
