"""What the stage `mixture` is made of."""
