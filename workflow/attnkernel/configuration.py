"""The config, checked against its schema before anything runs."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from attnkernel.errors import InputError

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

Json = dict[str, Any]

_TYPES: Final = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "a whole number",
    "null": "null",
    "number": "a number",
    "object": "a mapping",
    "string": "a text",
}


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
    if errors:
        raise InputError("\n".join(f"config: {line}" for error in errors for line in _explain(error)))
    return complete


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
    return [f"{place} is {json.dumps(given)}; allowed: {_allowed(schema)}"]


def _suggest(key: str, known: list[str]) -> str:
    close = get_close_matches(str(key), known, n=1)
    hint = f"; did you mean {close[0]}?" if close else ""
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
