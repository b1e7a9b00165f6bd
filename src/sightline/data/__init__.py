"""Pairs and where they come from, cleaning with an audit, splits, the built-in corpus, encoded corpora, batches."""
