"""Executors: one function that maps a function over tasks, on threads of work that stages never see."""
