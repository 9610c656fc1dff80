"""Which numbers of a submission are right, and which mistake makes the others."""
