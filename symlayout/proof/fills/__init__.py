"""What fills are to the functions and folds that read them, and what may be left out of a fold."""
