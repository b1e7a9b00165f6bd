"""Parts of models: attention, scores, masks, positions, state, layers, losses. They know nothing of words or tasks."""
