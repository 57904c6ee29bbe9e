"""Pictures and accounts of maps, for people."""
