"""Architectures, one file each, and what is made of them: sequence to sequence, language model, ensemble, the model folder."""
