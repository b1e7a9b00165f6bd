"""Scores over strings and numbers alone: metrics, significance, buckets, alignment quality. Every number carries its recipe."""
