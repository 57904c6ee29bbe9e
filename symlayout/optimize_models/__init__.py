"""Models with less movement, each proved equal to the model that it is made from."""
