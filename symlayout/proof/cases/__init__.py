"""Claims that are decided by cases: what is read in a case, what splits a case, and the tree of all cases."""
