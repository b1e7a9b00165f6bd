"""Search: from a predictor to sentences. Beam and sampling, ranking, scoring, and the translator that joins them to text."""
