"""Boresight's headless half: banks, retrievers, the engine, evidence, scoring and reports."""
