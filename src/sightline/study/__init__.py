"""Experiments made of the layers to the left: what a model costs, how fast it is here, small students of large teachers."""
