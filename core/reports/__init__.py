"""What is told: summaries, Markdown, TREC files and JSON, from scores alone."""
