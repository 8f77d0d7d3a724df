"""From files to one long table of tokens: readers, the tokeniser, splits, and the synthetic generator."""
