"""What ``--json`` prints, command by command, as JSON Schema: the one source of the reference page and the tests."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]


def _object(required: dict[str, Schema], optional: dict[str, Schema] | None = None, says: str = "") -> Schema:
    """Return the schema of an object with these keys and no others."""
    described = {"description": says} if says else {}
    properties = {**required, **(optional or {})}
    return {
        "type": "object", **described, "properties": properties, "required": list(required),
        "additionalProperties": False,
    }  # fmt: skip


def _list(items: Schema, says: str) -> Schema:
    return {"type": "array", "description": says, "items": items}


def _map(values: Schema, says: str) -> Schema:
    return {"type": "object", "description": says, "additionalProperties": values}


def _is(type_: str, says: str = "") -> Schema:
    return {"type": type_, **({"description": says} if says else {})}


def _or_null(schema: Schema) -> Schema:
    return {**schema, "type": [schema["type"], "null"]}


def _one_of(says: str, *values: str) -> Schema:
    return {"type": "string", "description": says, "enum": list(values)}


_INT, _NUMBER, _TEXT = _is("integer"), _is("number"), _is("string")
_EXTENT: Schema = {"type": ["integer", "string"], "description": "an integer, or an expression in the dims"}
_INTS = _list(_INT, "one integer for each axis")
_SHAPE = _list(_EXTENT, "the extents: integers, or expressions in the dims")
_BOUNDS = _list(_or_null(_INT), "the least and the greatest value; null is unbounded")
_SIZES = _map(_INT, "the value of each dim")
_FACTS: dict[str, Schema] = {
    "shape": _SHAPE,
    "requires": _list(_TEXT, "what must hold, as relations such as H % 2 == 0"),
    "dims": _map(_BOUNDS, "the bounds of each dim"),
    "dtype": _or_null(_is("string", "the element type; null is any")),
}
_WITNESS = _object(
    {
        "dims": _SIZES,
        "coord": _or_null(_list(_INT, "where the sides differ; null if their shapes do")),
        "left": _is("string", "what the left side has there"),
        "right": _is("string", "what the right side has there"),
    },
    says="sizes and a coordinate where the sides differ",
)
_STEP = _object(
    {
        "step": _is("string", "the step as it was typed, without its arguments"),
        "operation": _is("string", "the core operation"),
        "shape": _INTS,
        "at": _INTS,
        "source": _is("string", "what is read"),
        "source_shape": _INTS,
        "reads": _INTS,
        "map": _is("string", "the declared map"),
        "values": _is("string", "its right side with the numbers"),
        "where": _is("string", "why this case of the map is taken; empty if there is one"),
        "outside": _list(_INT, "the axes on which the source is left"),
    }
)
_REASON = _object(
    {
        "requires": _is("string", "the relation"),
        "words": _is("string", "in words"),
        "asked_by": _list(_TEXT, "the steps that ask for it"),
        "kind": _is("string", "the kind of the error"),
        "because": _is("string", "the rule behind it"),
        "breaks": _map(_INT, "small sizes that break this alone; empty if none were found"),
        "message": _is("string", "what the operation says of them"),
    }
)
_SOLUTION = _object(
    {
        "status": _one_of("how many inputs there are", "unique", "family", "none", "unknown"),
        "dims": _map(_EXTENT, "the value of each dim"),
        "relations": _list(_TEXT, "what must hold besides"),
        "points": {
            "type": ["array", "null"],
            "description": "all solutions, if they are finitely many",
            "items": _SIZES,
        },
        "inputs": _map(_SHAPE, "the shape of each input"),
        "reason": _is("string", "why there is none, or what was not decided"),
    },
    says="with --solve, the inputs",
)
_CACHE: dict[str, Schema] = {
    "path": _is("string", "the folder"),
    "state": _is("string", "whether it is used"),
    "entries": _is("integer", "how many kernels are kept"),
    "bytes": _is("integer", "how large they are together"),
}

SCHEMAS: dict[str, Schema] = {
    "infer": _object(
        {
            **_FACTS,
            "bounds": _list(_BOUNDS, "of each axis"),
            "asked_by": _list(_list(_TEXT, "steps"), "for each requirement the steps that ask for it"),
        },
        {"solve": _SOLUTION},
    ),
    "show": _object(
        {
            **_FACTS,
            "dims": _SIZES,
            "index_map": _is("string", "the composed map"),
            "digits": _list(_TEXT, "the digits that it becomes, with their extents"),
            "picture": {
                "description": "lists in the output's shape: the row-major number of the element read, -1 is fill"
            },
            "shown": _list(_INTS, "for each axis the coordinates in the picture"),
        },
        {"svg": _is("string", "the file that was drawn")},
    ),
    "explain": {
        "anyOf": [
            _object(
                {
                    "dims": _SIZES,
                    "shape": _INTS,
                    "at": _INTS,
                    "steps": _list(_STEP, "from the output to the input"),
                    "source": _or_null(_is("string", "the input that is read; null for a fill")),
                    "reads": _or_null(_INTS),
                    "number": _or_null(_is("integer", "the row-major number of the element")),
                    "fill": _or_null(_is("string", "the fill")),
                },
                says="with --at",
            ),
            _object({"requires": _list(_REASON, "why each requirement exists")}, says="without --at"),
        ]
    },
    "prove": _object(
        {
            "verdict": _one_of("what was found", "proved", "refuted", "unknown"),
            "left": _object(_FACTS),
            "right": _object(_FACTS),
            "requires": _list(_TEXT, "for which sizes the claim is made"),
            "same_requires": _is("boolean", "whether both sides are valid for the same sizes"),
            "witness": _or_null(_WITNESS),
            "explanation": _is("string", "the derivation"),
        }
    ),
    "emit": _object(
        {
            "folder": _is("string", "where the files are"),
            "files": _list(_TEXT, "what was written"),
            "removed": _list(_TEXT, "what an older version had left there"),
        }
    ),
    "run": _object(
        {
            "shape": _INTS,
            "dtype": _is("string", "the element type of the result"),
            "out": _is("string", "the file that was written"),
        }
    ),
    "bench": _object(
        {
            "input": _INTS,
            "output": _INTS,
            "dtype": _is("string", "the element type"),
            "bytes": _is("integer", "of the larger side"),
            "dims": _SIZES,
            "differs": _list(_TEXT, "contenders whose result differs; they are not timed"),
            "seconds": _map(
                _object({"median": _is("number"), "least": _is("number"), "rounds": _INT}),
                "the times of each contender",
            ),
        }
    ),
    "ops": {
        "anyOf": [
            _object(
                {
                    "ops": _list(
                        _object(
                            {
                                "name": _is("string", "as a step calls it"),
                                "parameters": _list(_TEXT, "its arguments, with their defaults"),
                                "summary": _is("string", "the first line of its text"),
                            }
                        ),
                        "the operations",
                    )
                }
            ),
            _object({"markdown": _is("string", "the page")}, says="with --markdown"),
        ]
    },
    "doctor": _object(
        {
            "symlayout": _is("string", "the version"),
            "python": _is("string", "the version"),
            "system": _is("string", "the operating system and processor"),
            "needs": _map(_or_null(_TEXT), "the version of each package that is needed; null is absent"),
            "compiler": _object(
                {
                    "command": _or_null(_is("string", "the C compiler")),
                    "works": _is("boolean", "whether a kernel came out right"),
                    "problem": _or_null(_is("string", "what is wrong with it")),
                }
            ),
            "instructions": _object(
                {
                    "march": _or_null(_is("string", "the instruction set that kernels are compiled for")),
                    "processor": _list(_TEXT, "the levels of x86-64 that the processor has"),
                    "problem": _or_null(_is("string", "why the one that was named cannot be used")),
                }
            ),
            "trampoline": _is("string", "whether calls that are remembered are made in C, and if not, why"),
            "cache": _object({"path": _is("string", "the folder"), "state": _is("string", "whether it is used")}),
            "peers": _map(_TEXT, "the versions of the installed peers"),
        }
    ),
    "cache": _object(
        _CACHE,
        {
            "kept": _list(
                _object({"key": _TEXT, "kernel": _TEXT, "bytes": _INT, "made": _is("number", "seconds since 1970")}),
                "list: the entries, oldest first",
            ),
            "refused": _list(_TEXT, "verify, prune: entries that are not what was kept"),
            "removed": _list(_TEXT, "prune: entries that are gone"),
            "leftovers": _is("integer", "prune: how much of killed processes was removed"),
        },
    ),
    "completion": _object({"script": _is("string", "for the shell to read")}),
    "help": {
        "anyOf": [
            _object({"commands": _map(_is("object"), "what each command is, and the schema of what it prints")}),
            _object({"markdown": _is("string", "the page")}, says="with --markdown"),
        ]
    },
}

ERROR: Schema = _object(
    {
        "error": _object(
            {
                "type": _is("string", "the class, such as ShapeError"),
                "kind": _or_null(_is("string", "of a ShapeError: the rule that is broken, stable between releases")),
                "message": _is("string", "as on standard error"),
            }
        )
    },
    says="what every command prints instead where it fails with exit status 1",
)
