"""Settings of the blend's word models and of the pool, small enough for a test."""

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

POOL = {
    "taught": {"every": 2, "tokens": 400},
    "histories": {"characters": [1, 2, 3, 5], "words": [[], [1], [1, 2]]},
    "members": 2,
    "recurrent": {
        "width": 6, "epochs": 3, "step": 0.01, "lanes": 4, "window": 8, "noise": 20, "dropout": 0.2, "min_count": 2,
    },
    "states": {"dimensions": 3, "bandwidth": 0.05, "own": 0.1},
    "pace": {"window": 3, "step": 0.05},
    "network": {"members": 2, "width": 6, "epochs": 20, "step": 0.01, "batch": 256},
}  # fmt: skip
