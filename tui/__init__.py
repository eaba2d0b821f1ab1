"""Boresight's terminal app: screens over `core.api`, without domain logic of their own."""
