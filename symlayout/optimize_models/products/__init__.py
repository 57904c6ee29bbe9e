"""Products with constant weights whose columns are read in parts, as products of the parts."""
