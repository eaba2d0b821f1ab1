"""Answers that were given before: TREC run files, and the evidence of finished runs."""
