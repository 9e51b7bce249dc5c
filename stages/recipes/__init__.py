"""Lists of stages that go by a name of their own."""
