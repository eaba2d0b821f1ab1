"""One module a group of commands; each turns parsed words into calls and values into text."""
