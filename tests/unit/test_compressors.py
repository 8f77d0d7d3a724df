"""Compressors as codes: strongest settings, and primed by what a text adds."""

import pytest

from attnkernel.language.compressors import COMPRESSORS, code_bits, growth

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
