"""A check of JSON against the schemas of our formats, by the part of JSON Schema that they use."""

import json
import re
from functools import cache
from pathlib import Path

import hios

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


@cache
def schema_of(name):
    """The schema of a format: in the sources, in a wheel, or next to the installed package."""
    package = Path(hios.__file__).resolve().parent
    root = package.parents[1]
    folder = next(f for f in (root / "schedules" / "schemas", package / "schemas", root / "schemas") if f.is_dir())
    return json.loads((folder / f"{name}.json").read_text())


def is_of(value, kind):
    if kind in ("number", "integer"):
        if isinstance(value, float):
            return kind == "number" or value.is_integer()
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, TYPES[kind])


class Checker:
    """Finds the first place where a value breaks its schema."""

    def __init__(self, root):
        self.root = root

    def resolve(self, schema):
        while "$ref" in schema:
            found = self.root
            for key in schema["$ref"].removeprefix("#/").split("/"):
                found = found[key]
            schema = found
        return schema

    def finding(self, value, schema, path="$"):
        """A text for the first finding, or None."""
        if schema is True:
            return None
        schema = self.resolve(schema)
        if "anyOf" in schema:
            findings = [self.finding(value, one, path) for one in schema["anyOf"]]
            return None if None in findings else findings[-1]
        return self.own_finding(value, schema, path) or self.inner_finding(value, schema, path)

    def own_finding(self, value, schema, path):
        kinds = schema.get("type", [])
        kinds = [kinds] if isinstance(kinds, str) else kinds
        if kinds and not is_of(value, kinds[0]) and not any(is_of(value, kind) for kind in kinds[1:]):
            return f"{path} is not of type {' or '.join(kinds)}"
        if "const" in schema and value != schema["const"]:
            return f"{path} is not {json.dumps(schema['const'])}"
        if "enum" in schema and value not in schema["enum"]:
            return f"{path} is none of {', '.join(map(str, schema['enum']))}"
        if isinstance(value, str):
            if "pattern" in schema and not re.search(schema["pattern"], value):
                return f"{path} has not the form {schema['pattern']}"
        elif isinstance(value, (int, float)) and not isinstance(value, bool) and self.out_of_range(value, schema):
            return f"{path} is out of range: {value}"
        if isinstance(value, (str, list)) and len(value) < schema.get("minLength", schema.get("minItems", 0)):
            return f"{path} is too short"
        return None

    def out_of_range(self, value, schema):
        return (value < schema.get("minimum", value) or value > schema.get("maximum", value)
                or ("exclusiveMinimum" in schema and value <= schema["exclusiveMinimum"]))

    def inner_finding(self, value, schema, path):
        if isinstance(value, list) and "items" in schema:
            for index, item in enumerate(value):
                if found := self.finding(item, schema["items"], f"{path}[{index}]"):
                    return found
        if isinstance(value, dict):
            return self.keys_finding(value, schema, path)
        return None

    def keys_finding(self, value, schema, path):
        for key in schema.get("required", []):
            if key not in value:
                return f"{path}.{key} is missing"
        known, others = schema.get("properties", {}), schema.get("additionalProperties", True)
        for key, inner in value.items():
            if key not in known and others is False:
                return f"{path}.{key} is no key of this format"
            if found := self.finding(inner, known.get(key, others), f"{path}.{key}"):
                return found
        return None


def finding(value, name):
    """The first place where the value is no file of the format, as one line; None where it is one."""
    schema = schema_of(name)
    return Checker(schema).finding(value, schema)
