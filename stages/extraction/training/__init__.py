"""How the model of `engine: blocks` is made from labelled pages, by NumPy alone and to the same bytes each time."""
