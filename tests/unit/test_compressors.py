"""Compressors as codes: strongest settings, and primed by what a text adds."""

import pytest

from attnkernel.language.compressors import COMPRESSORS, brotli_after, code_bits, growth

TEXT = "We face intense competition across all markets for our products and services. " * 3


@pytest.mark.parametrize("name", COMPRESSORS)
def test_a_text_costs_less_after_itself_than_cold(name):
    assert 0 <= code_bits(name, TEXT, TEXT) < code_bits(name, TEXT)


@pytest.mark.parametrize("name", COMPRESSORS)
def test_growth_ends_at_the_size_of_the_whole_and_never_falls_far(name):
    sizes = growth(name, TEXT, [50, 100, len(TEXT)])
    assert sizes[-1] == code_bits(name, TEXT)
    assert (sizes[1:] - sizes[:-1] >= -64).all()


def test_sizes_are_those_of_the_standard_library():
    import bz2
    import lzma

    assert code_bits("lzma", "naïve café") == 8 * len(lzma.compress("naïve café".encode()))
    assert code_bits("bz2", TEXT) == 8 * len(bz2.compress(TEXT.encode()))


def test_what_brotli_writes_after_a_training_text_gives_the_text_back_to_who_has_read_it():
    import brotli

    training = "".join(f"Revenue of year {year} was {year * 7919 % 10007} million. " for year in range(2000))
    before, after = brotli_after(TEXT.encode(), training.encode())
    decoder = brotli.Decompressor()

    def read(packed: bytes) -> bytes:  # the decoder hands out a piece at a time
        return decoder.process(packed) + b"".join(iter(lambda: decoder.process(b""), b""))

    assert read(before) == training.encode()
    assert read(after) == TEXT.encode()
    assert code_bits("brotli-11", TEXT, training) == 8 * len(after)
    # It reaches back into the training text.
    repeated = training[5000:5800]
    assert 5 * code_bits("brotli-11", repeated, training) < code_bits("brotli-11", repeated)
