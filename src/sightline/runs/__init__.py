"""Whole runs made of the layers to the left: training in a folder, the built-in demonstration, evaluating models."""
