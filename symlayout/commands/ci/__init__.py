"""Verdicts about models in continuous integration: which models were changed, and what a service shows of them."""
