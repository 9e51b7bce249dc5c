"""The planner: what it takes to train this model on this data on this cluster."""
