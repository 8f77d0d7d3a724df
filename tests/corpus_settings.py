"""What a corpus of the config says where it says nothing."""

from pathlib import Path

from attnkernel.configuration import corpus_defaults

DEFAULTS = corpus_defaults(Path(__file__).resolve().parents[1] / "workflow" / "schemas" / "config.schema.yaml")
