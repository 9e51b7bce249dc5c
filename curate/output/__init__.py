"""The output folder: who may write there, what stands in it, and what names a run."""
