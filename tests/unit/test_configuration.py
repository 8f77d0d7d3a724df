import copy
from datetime import date
from pathlib import Path

import pytest
import yaml

from attnkernel.configuration import checked, read
from attnkernel.errors import InputError

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = ROOT / "workflow" / "schemas" / "config.schema.yaml"


@pytest.fixture
def config():
    return yaml.safe_load((ROOT / "config" / "config.yaml").read_text())


def changed(config, place, value):
    result = copy.deepcopy(config)
    inner = result
    *parents, last = place.split(".")
    for key in parents:
        inner = inner[key]
    inner[last] = value
    return result


def test_the_config_that_ships_is_valid_and_defaults_are_filled_in(config):
    complete = checked(config, SCHEMA)
    assert complete["corpora"]["lee"]["tokens"] == "words"
    assert "tokens" not in config["corpora"]["lee"], "the given config is left alone"


def test_a_pool_needs_the_text_that_it_is_trained_on(config):
    pool = yaml.safe_load((ROOT / "config" / "filings-pool.yaml").read_text())["filing_codes"]["pool"]
    given = changed(config, "filing_codes.pool", pool)
    with pytest.raises(InputError, match=r"filing_codes\.pool is .*; allowed: null without filing_codes\.primer"):
        checked(given, SCHEMA)
    checked(changed(given, "filing_codes.primer", {"path": "texts"}), SCHEMA)


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("seed", -1, "config: seed is -1; allowed: a whole number at least 0 and at most 4294967295"),
        ("seed", "one", 'config: seed is "one"; allowed: a whole number at least 0'),
        (
            "language.kneser_ney.order",
            9,
            "config: language.kneser_ney.order is 9; allowed: a whole number at least 1 and at most 6",
        ),
        ("language.kneser_ney.discounts", "none", 'is "none"; allowed: "modified" or "single"'),
        ("language.vektors", {}, "config: language.vektors is not a setting; did you mean vectors?"),
        (
            "corpora.lee.documents",
            "words",
            'config: corpora.lee.documents is "words"; allowed: "files" or "lines" or "headings"',
        ),
        ("corpora.Lee", {"path": "x"}, "config: corpora.Lee is not a usable name"),
        ("corpora.mine", {}, "config: corpora.mine.path is missing"),
        ("language.cache.betas", [-1], "config: language.cache.betas.0 is -1; allowed: a number at least 0"),
        ("language.cache.betas", [10**400], "allowed: a number at least 0 and at most 1000 or Infinity"),
        ("circle.denoiser.steps", 10**30, "allowed: a whole number at least 2 and at most 10000000"),
        ("language.cache.betas", [float("nan")], "config: language.cache.betas.0 is NaN; allowed: a finite number"),
        ("circle.sigma", float("inf"), "config: circle.sigma is Infinity; allowed: a number above 0 and at most 1000"),
        ("splits.train", 0.8, "config: splits is [0.8, 0.15, 0.15]; allowed: train, dev and heldout that sum to 1"),
        ("language.lambdas.from", 1.0, "from, which is at most to"),
        ("language.distance_edges", [50, 12], "config: language.distance_edges is [50, 12]; allowed: in ascending"),
        ("synthetic.sentences", [22, 12], "config: synthetic.sentences is [22, 12]; allowed: least, then greatest"),
        ("synthetic.phrase_lengths", [0.5, 0.4], "config: synthetic.phrase_lengths is [0.5, 0.4]; allowed: prob"),
        ("propositions.corpus", "mine", 'config: propositions.corpus is "mine"; allowed: a corpus of this config'),
        ("features.corpora", ["lee", "mine"], 'config: features.corpora is "mine"; allowed: a corpus of this config'),
        ("circle.settings", [["smoth", 32]], 'config: circle.settings is "smoth"; allowed: a spectrum'),
        ("longlag.compared.far_lag", 7, "config: longlag.compared.far_lag is 7; allowed: a lag of the census"),
        (
            "filings.documents",
            [{"id": "a"}, {"id": "a"}],
            'filings.documents is "a"; allowed: an id of its own',
        ),
        ("corpora", None, "config: corpora is null; allowed: a mapping"),
        ("seed", date(2026, 11, 30), 'config: seed is "2026-11-30"; allowed: a whole number'),
    ],
)
def test_a_fault_is_one_line_with_the_key_what_was_given_and_what_is_allowed(config, place, value, message):
    with pytest.raises(InputError) as caught:
        checked(changed(config, place, value), SCHEMA)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_every_fault_is_listed(config):
    with pytest.raises(InputError) as caught:
        checked(changed(changed(config, "seed", -1), "language.min_count", 0), SCHEMA)
    assert len(str(caught.value).splitlines()) == 2


def test_a_missing_key_is_named(config):
    del config["splits"]
    with pytest.raises(InputError, match="config: splits is missing"):
        checked(config, SCHEMA)


def numbers(schema, place=()):
    """Every part of the schema that takes a number, and where it stands."""
    if not isinstance(schema, dict | list):
        return
    if isinstance(schema, dict) and {"integer", "number"} & set(str(schema.get("type")).strip("[]'").split("', '")):
        yield ".".join(place), schema
    for key, inner in schema.items() if isinstance(schema, dict) else enumerate(schema):
        yield from numbers(inner, (*place, str(key)))


def test_every_number_of_the_config_has_a_least_and_a_greatest_value():
    found = dict(numbers(yaml.safe_load(SCHEMA.read_text())))
    assert len(found) > 100
    for place, schema in found.items():
        assert {"minimum", "exclusiveMinimum"} & set(schema), place
        assert {"maximum", "exclusiveMaximum"} & set(schema), place


UNREADABLE = {
    "bracket": (b"a:\n  b: [1\nc: 2\n", ", line 3: not YAML (did not find expected ',' or ']'); write `name: value`"),
    "tab": (b"a: 1\n\tb: 2\n", ", line 2: not YAML (found a tab character that violates indentation)"),
    "alias": (b"a: *b\n", ", line 1: not YAML (found undefined alias"),
    "tag": (b"a: !!python/name:os.system\n", ", line 1: not YAML (could not determine a constructor for the tag"),
    "control": (b"a: 1\nb: \x01\n", ", line 2: not YAML (control characters are not allowed)"),
    "latin": (b"a: caf\xe9\n", ": not UTF-8 at byte 6 (0xe9); convert it"),
    "empty": (b"# nothing yet\n", ": holds nothing; write settings"),
    "list": (b"- a\n", ': holds ["a"]; write settings'),
    "text": (b"hello\n", ': holds "hello"; write settings'),
    "twice": (b"a: 1\nb: {c: 1,\n  c: 2}\n", ", line 3: c stands on line 2 already; keep one of the two"),
    "date": (b"a: 2026-13-45\n", ": holds a value that no program here can read (month must be in 1..12)"),
    "digits": (b"a: " + b"9" * 5000, ": holds a value that no program here can read (Exceeds the limit"),
    "deep": (b"[" * 50_000, ", line 1: not YAML"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_config_file_that_cannot_be_read_is_one_line_with_its_name_and_place(tmp_path, name):
    content, message = UNREADABLE[name]
    path = tmp_path / "mine.yaml"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}{message}")
    assert "\n" not in str(caught.value)


def test_a_config_file_that_is_not_there_or_a_folder_is_named(tmp_path):
    with pytest.raises(InputError, match=r"mine\.yaml: there is no such config file; check its name"):
        read(tmp_path / "mine.yaml")
    with pytest.raises(InputError, match="is a folder; name the config file in it"):
        read(tmp_path)


def test_yaml_and_json_are_read_and_an_alias_that_holds_itself_does_not_hang(tmp_path):
    path = tmp_path / "mine.yaml"
    for content in ('{"a":\t1}', "a: 1\n", "\ufeffa: 1\n"):
        path.write_text(content, encoding="utf-8")
        assert read(path) == {"a": 1}
    path.write_text("a: &x [*x]\n", encoding="utf-8")
    assert list(read(path)) == ["a"]
