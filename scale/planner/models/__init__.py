"""What is trained: exact parameters and FLOPs of a shape or of a published config."""
