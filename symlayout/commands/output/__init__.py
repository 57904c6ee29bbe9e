"""What the command line prints: answers, errors, help, progress."""
