"""The config, checked against its schema before anything runs."""

from __future__ import annotations

import copy
import json
import math
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from attnkernel import reading
from attnkernel.errors import InputError

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

Json = dict[str, Any]

# Settings that name a corpus, or several.
_CORPUS_NAMES: Final = (
    ("propositions", "corpus"),
    ("features", "corpora"),
    ("filing_codes", "article_corpus"),
    ("filing_codes", "gain_corpora"),
    ("laboratory", "text"),
)
_TYPES: Final = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "a whole number",
    "null": "null",
    "number": "a number",
    "object": "a mapping",
    "string": "a text",
}


def read(path: str | Path) -> Json:
    """The settings in a config file, which is YAML or JSON.

    Raises
    ------
    InputError
        The file cannot be read, is not UTF-8, not YAML, or holds no settings.
    """
    place = Path(path)
    if place.is_dir():
        raise InputError(f"{path}: is a folder; name the config file in it")
    if not place.exists():
        raise InputError(f"{path}: there is no such config file; check its name after --configfile")
    text = reading.decode(reading.contents(place), place)
    value = _parsed(text, path)
    if not isinstance(value, dict):
        held = "nothing" if value is None else _shown(value)
        raise InputError(f"{path}: holds {held}; write settings, each as `name: value`, or {{}} for none")
    return value


def _parsed(text: str, path: str | Path) -> Any:
    import yaml

    with suppress(ValueError, RecursionError):  # JSON with tabs is no YAML
        return json.loads(text)
    reader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
    try:
        node = reader.get_single_node()
        _refuse_repeated(node, path)
        return None if node is None else reader.construct_document(node)
    except InputError:
        raise
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        line = mark.line if mark else text.count("\n", 0, getattr(error, "position", 0))
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "a fault"
        raise InputError(
            f"{path}, line {line + 1}: not YAML ({problem}); write `name: value`, indent with spaces and not with "
            "tabs, close every bracket and quote"
        ) from None
    except (ValueError, RecursionError) as error:  # a date that is none, a number of thousands of digits, nesting
        raise InputError(f"{path}: holds a value that no program here can read ({error}); mend it") from None
    finally:
        reader.dispose()


def _refuse_repeated(root: Any, path: str | Path) -> None:
    """Refuse a setting that stands twice, of which YAML would drop the first without a word."""
    waiting, seen = [root], set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen or not isinstance(getattr(node, "value", None), list):
            continue
        seen.add(id(node))  # an alias leads to the same node again
        lines: dict[str, int] = {}
        for child in node.value:
            key, value = child if isinstance(child, tuple) else (None, child)
            waiting.append(value)
            if key is None:
                continue
            line = key.start_mark.line + 1
            first = lines.setdefault(str(key.value), line)
            if first != line:
                raise InputError(
                    f"{path}, line {line}: {key.value} stands on line {first} already; keep one of the two"
                )


def checked(config: Mapping[str, Any], schema_path: Path) -> Json:
    """A copy of the config that fits the schema, with the schema's defaults filled in.

    Raises
    ------
    InputError
        A key is unknown or missing, or a value has the wrong type or is out of range: one line a fault, each naming
        the key, what was given and what is allowed.
    """
    import yaml
    from jsonschema import Draft202012Validator

    schema = yaml.load(schema_path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    complete: Json = copy.deepcopy(dict(config))
    _fill_defaults(complete, schema)
    errors = sorted(Draft202012Validator(schema).iter_errors(complete), key=lambda error: list(map(str, error.path)))
    faults = [line for error in errors for line in _explain(error)] + _no_numbers(complete)
    # What a schema cannot say is looked at in a config that fits it.
    faults = faults or contradictions(complete)
    if faults:
        raise InputError("\n".join(f"config: {line}" for line in faults))
    return complete


def corpus_defaults(schema_path: Path) -> Json:
    """Every setting of a corpus that has a default."""
    import yaml

    schema = yaml.safe_load(schema_path.read_text(encoding="utf-8"))
    corpus: Json = {}
    _fill_defaults(corpus, schema["properties"]["corpora"]["additionalProperties"])
    return corpus


def contradictions(config: Mapping[str, Any]) -> list[str]:
    """One line for each pair of settings that exclude each other, in a config that fits the schema."""
    faults: list[str] = []

    def require(holds: bool, key: str, given: Any, allowed: str) -> None:
        if not holds:
            faults.append(f"{key} is {_shown(given)}; allowed: {allowed}")

    shares = [config["splits"][name] for name in ("train", "dev", "heldout")]
    require(abs(sum(shares) - 1.0) < 1e-9, "splits", shares, "train, dev and heldout that sum to 1")
    corpora = config["corpora"]
    for section, key in _CORPUS_NAMES:
        given = config[section][key]
        for name in given if isinstance(given, list) else [given]:
            require(name in corpora, f"{section}.{key}", name, f"a corpus of this config: {', '.join(corpora)}")
    synthetic, language = config["synthetic"], config["language"]
    for key in ("kinds", "shapes", "phrase_lengths"):
        given = synthetic[key]
        total = sum(given.values() if isinstance(given, dict) else given)
        require(abs(total - 1.0) < 1e-9, f"synthetic.{key}", given, "probabilities that sum to 1")
    require(_ascending(synthetic["sentences"]), "synthetic.sentences", synthetic["sentences"], "least, then greatest")
    edges = language["distance_edges"]
    require(_ascending(edges) and len(set(edges)) == len(edges), "language.distance_edges", edges, "in ascending order")
    lambdas = language["lambdas"]
    require(lambdas["from"] <= lambdas["to"], "language.lambdas", lambdas, "from, which is at most to")
    spectra = config["circle"]["spectra"]
    for name, _ in config["circle"]["settings"]:
        require(name in spectra, "circle.settings", name, f"a spectrum of circle.spectra: {', '.join(spectra)}")
    filings = config["filings"]
    for key, listed in (("documents", filings["documents"]), ("archive.documents", filings["archive"]["documents"])):
        repeated = [name for name, count in Counter(document["id"] for document in listed).items() if count > 1]
        require(not repeated, f"filings.{key}", ", ".join(repeated), "an id of its own for each document")
    codes = config["filing_codes"]
    needed = "null without filing_codes.primer, the text that the pool is trained on"
    require(not codes["pool"] or bool(codes["primer"]), "filing_codes.pool", "set", needed)
    longlag = config["longlag"]
    compared, lags = longlag["compared"], longlag["census"]["lags"]
    biases = longlag["forget_biases"]
    require(compared["gated"] in biases, "longlag.compared.gated", compared["gated"], f"one of {', '.join(biases)}")
    for key in ("near_lag", "far_lag"):
        require(compared[key] in lags, f"longlag.compared.{key}", compared[key], f"a lag of the census: {lags}")
    return faults


def _ascending(values: list[Any]) -> bool:
    return values == sorted(values)


def _no_numbers(value: Any, place: tuple[str, ...] = ()) -> list[str]:
    """NaN, which YAML can write, and which is neither below nor above any bound of the schema."""
    if isinstance(value, dict | list):
        inner = value.items() if isinstance(value, dict) else enumerate(value)
        return [line for key, held in inner for line in _no_numbers(held, (*place, str(key)))]
    if not isinstance(value, float) or not math.isnan(value):
        return []
    return [f"{'.'.join(place)} is NaN; allowed: a finite number"]


def _shown(value: Any) -> str:
    shown = json.dumps(value, default=str, ensure_ascii=False)
    return shown if len(shown) <= 80 else f"{shown[:80]}..."


def _fill_defaults(value: Any, schema: Mapping[str, Any]) -> None:
    if not isinstance(value, dict):
        return
    for key, inner in schema.get("properties", {}).items():
        if "default" in inner:
            value.setdefault(key, copy.deepcopy(inner["default"]))
        if key in value:
            _fill_defaults(value[key], inner)
    other = schema.get("additionalProperties")
    if isinstance(other, dict):
        for key in value.keys() - schema.get("properties", {}).keys():
            _fill_defaults(value[key], other)


def _explain(error: ValidationError) -> list[str]:
    place = ".".join(map(str, error.absolute_path))
    prefix = f"{place}." if place else ""
    schema: Any = error.schema
    given: Any = error.instance
    wanted: Any = error.validator_value
    if error.validator == "additionalProperties":
        known = list(schema.get("properties", {}))
        unknown = [key for key in given if key not in known]
        return [f"{prefix}{key} is not a setting{_suggest(key, known)}" for key in unknown]
    if error.validator == "required":
        absent = [key for key in wanted if key not in given]
        return [f"{prefix}{key} is missing; needed: {_allowed(schema['properties'][key])}" for key in absent]
    if "propertyNames" in error.absolute_schema_path:
        return [f"{prefix}{given} is not a usable name; allowed: {_allowed(schema)}"]
    return [f"{place or 'the config'} is {_shown(given)}; allowed: {_allowed(schema)}"]


def _suggest(key: str, known: list[str]) -> str:
    close = get_close_matches(str(key), known, n=1)
    hint = f"; did you mean {close[0]}?" if close else "."
    return f"{hint} Allowed here: {', '.join(known)}" if known else hint


def _allowed(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return " or ".join(json.dumps(value) for value in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(_allowed(choice) for choice in schema["anyOf"])
    kinds = schema.get("type", "object")
    text = " or ".join(_TYPES[kind] for kind in ([kinds] if isinstance(kinds, str) else kinds))
    bounds = [
        f"{words} {schema[key]}"
        for key, words in (
            ("minimum", "at least"),
            ("exclusiveMinimum", "above"),
            ("maximum", "at most"),
            ("exclusiveMaximum", "below"),
            ("pattern", "matching"),
            ("minItems", "with length at least"),
        )
        if key in schema
    ]
    inner = f" of: {_allowed(schema['items'])}" if "items" in schema else ""
    note = f" ({schema['description']})" if "description" in schema else ""
    return " ".join([text, " and ".join(bounds)]).strip() + inner + note
