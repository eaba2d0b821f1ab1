"""How cases, filters and ranks are put into words and marks, for the screens that show them."""
