"""The deck: six pages from the calculator's numbers."""
