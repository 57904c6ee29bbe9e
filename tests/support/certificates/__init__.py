"""What the tests of certificates share: claims by hand, a checker that is watched, systems that log."""
