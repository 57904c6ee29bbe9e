"""Whether data meets a JSON Schema, for the part of JSON Schema that `symlayout.commands.output.schemas` uses."""

from __future__ import annotations

from typing import Any

TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,), "array": (list,), "string": (str,), "boolean": (bool,), "null": (type(None),),
    "integer": (int,), "number": (int, float),
}  # fmt: skip
KNOWN = {"type", "description", "enum", "anyOf", "properties", "required", "additionalProperties", "items"}


def problems(data: Any, schema: dict[str, Any], at: str = "answer") -> list[str]:
    """Return what of *data* is not as *schema* says."""
    if unknown := schema.keys() - KNOWN:
        return [f"{at}: the schema has {', '.join(sorted(unknown))}, which is not checked"]
    if "anyOf" in schema:
        tried = [problems(data, variant, at) for variant in schema["anyOf"]]
        return [] if any(not found for found in tried) else min(tried, key=len)
    types = schema.get("type", list(TYPES))
    allowed = [t for name in ([types] if isinstance(types, str) else types) for t in TYPES[name]]
    if type(data) not in allowed:
        return [f"{at}: {data!r:.60} is no {types}"]
    found = []
    if "enum" in schema and data not in schema["enum"]:
        found.append(f"{at}: {data!r:.60} is none of {schema['enum']}")
    if isinstance(data, list):
        found += [p for k, item in enumerate(data) for p in problems(item, schema.get("items", {}), f"{at}[{k}]")]
    if isinstance(data, dict):
        properties, others = schema.get("properties", {}), schema.get("additionalProperties", True)
        found += [f"{at}: {key} is missing" for key in schema.get("required", []) if key not in data]
        for key, value in data.items():
            if key in properties:
                found += problems(value, properties[key], f"{at}.{key}")
            elif others is False:
                found.append(f"{at}: {key} is not described")
            elif isinstance(others, dict):
                found += problems(value, others, f"{at}.{key}")
    return found


def assert_valid(data: Any, schema: dict[str, Any]) -> None:
    """Assert that *data* is what *schema* says."""
    assert problems(data, schema) == []
