"""Pages about models and verdicts: what was found as data, and one template that shows it."""
