"""Attention over a document: word vectors, Kneser-Ney, the kernel cache and their losses."""
