"""The embedded retriever: an index of a repository in one SQLite file, lexical, dense or both."""
