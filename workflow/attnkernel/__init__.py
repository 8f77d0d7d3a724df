"""Attention as kernel smoothing: the numerics behind every published number."""
