"""Plug-ins: how stages are found, what they declare, and what their code is held to."""
