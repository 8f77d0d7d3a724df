"""Speed and memory against peers, growth, and what a corpus too large for memory costs: `make bench`."""
