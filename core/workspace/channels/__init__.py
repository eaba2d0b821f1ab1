"""The ways to search a workspace, and how their answers are fused."""
