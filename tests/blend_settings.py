"""Settings of the blend's word models, small enough for a test."""

WORD_MODELS = {
    "order": 3,
    "dimensions": 4,
    "window": 2,
    "skips": [[2, 0.2]],
    "beta": 4.0,
    "context": [1, 0.5],
    "memory": 50,
    "document": 2,
    "rescaling": [20, 0.7],
    "rate": 0.2,
    "speller_order": 4,
}
