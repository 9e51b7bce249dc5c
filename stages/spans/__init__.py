"""What the stages that cut repeated spans are made of."""
