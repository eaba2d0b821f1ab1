"""What is to run: manifests, frozen sources, identity and the plan."""
