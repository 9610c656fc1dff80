"""What analyses and explains lab3: one front door, `python3 report COMMAND`."""
