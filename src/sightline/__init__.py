"""Trains attention models for text, runs them fast on ordinary computers, and shows what they look at."""
