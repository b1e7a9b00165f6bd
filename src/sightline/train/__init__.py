"""Optimiser, schedules, the loop, resuming, events, distribution. Knows nothing of decoding."""
