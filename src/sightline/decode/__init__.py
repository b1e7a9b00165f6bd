"""From a predictor to text: options, search, sampling, ranking, translating, scoring."""
