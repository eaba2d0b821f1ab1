"""One widget a module, named for what it shows."""
