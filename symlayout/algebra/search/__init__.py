"""Integers that meet facts, found by search: bounds, whether there are any, and sizes one by one."""
