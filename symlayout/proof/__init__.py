"""Equality of two chains: verdict, witness, certificate."""
