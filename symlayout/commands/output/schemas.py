"""The JSON Schema of what each command prints with ``--json``.  The reference page and the tests are made from it."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]


def _object(required: dict[str, Schema], optional: dict[str, Schema] | None = None, description: str = "") -> Schema:
    """Return the schema of an object with these keys and no others."""
    described = {"description": description} if description else {}
    properties = {**required, **(optional or {})}
    return {
        "type": "object", **described, "properties": properties, "required": list(required),
        "additionalProperties": False,
    }  # fmt: skip


def _list(items: Schema, description: str) -> Schema:
    return {"type": "array", "description": description, "items": items}


def _map(values: Schema, description: str) -> Schema:
    return {"type": "object", "description": description, "additionalProperties": values}


def _is(type_: str, description: str = "") -> Schema:
    return {"type": type_, **({"description": description} if description else {})}


def _or_null(schema: Schema) -> Schema:
    return {**schema, "type": [schema["type"], "null"]}


def _one_of(description: str, *values: str) -> Schema:
    return {"type": "string", "description": description, "enum": list(values)}


_INT, _NUMBER, _TEXT = _is("integer"), _is("number"), _is("string")
_EXTENT: Schema = {"type": ["integer", "string"], "description": "an integer, or an expression in the dims"}
_INTS = _list(_INT, "one integer for each axis")
_SHAPE = _or_null(_list(_EXTENT, "the extents: integers, or expressions in the dims; null if the rank is not known"))
_BOUNDS = _list(_or_null(_INT), "the least and the greatest value; null is unbounded")
_SIZES = _map(_INT, "the value of each dim")
_FACTS: dict[str, Schema] = {
    "shape": _SHAPE,
    "requires": _list(_TEXT, "the requirements, such as H % 2 == 0"),
    "dims": _map(_BOUNDS, "the bounds of each dim"),
    "dtype": _or_null(_is("string", "the element type; null is any, or not known")),
}
_WITNESS = _object(
    {
        "dims": _SIZES,
        "coord": _or_null(_list(_INT, "where the sides differ; null if their shapes differ")),
        "left": _is("string", "the element of the left side there, or its shape"),
        "right": _is("string", "the element of the right side there, or its shape"),
    },
    description="sizes and a coordinate where the sides differ",
)
_STEP = _object(
    {
        "step": _is("string", "the step as it was typed, without its arguments"),
        "operation": _is("string", "the core operation"),
        "shape": _INTS,
        "at": _INTS,
        "source": _is("string", "the tensor that is read"),
        "source_shape": _INTS,
        "reads": _INTS,
        "map": _is("string", "the declared map"),
        "values": _is("string", "the right side of the map, with numbers for its names"),
        "where": _is("string", "the windows of the case that applies; empty if it has none"),
        "outside": _list(_INT, "the axes on which the coordinate is outside the source"),
    }
)
_REASON = _object(
    {
        "requires": _is("string", "the requirement"),
        "words": _is("string", "the requirement in words"),
        "asked_by": _list(_TEXT, "the steps that state it"),
        "kind": _is("string", "the kind of the error if it fails"),
        "because": _is("string", "the rule behind it"),
        "breaks": _map(_INT, "small sizes that break only this requirement; empty if none were found"),
        "message": _is("string", "the error for these sizes"),
    }
)
_SOLUTION = _object(
    {
        "status": _one_of("how many inputs there are", "unique", "family", "none", "unknown"),
        "dims": _map(_EXTENT, "the value of each dim"),
        "relations": _list(_TEXT, "further requirements on the dims"),
        "points": {
            "type": ["array", "null"],
            "description": "all solutions, if they are finitely many",
            "items": _SIZES,
        },
        "inputs": _map(_SHAPE, "the shape of each input"),
        "reason": _is("string", "why there is no input, or what could not be decided"),
    },
    description="the inputs; only with --solve",
)
_NODE = _object(
    {
        "op": _is("string", "the operator"),
        "outputs": _list(_TEXT, "the names of its outputs"),
        "shape": _is("string", "the shape of the first output"),
        "bytes": _is("string", "the bytes that it moves"),
    }
)
_MOVEMENT = _object(
    {
        "transposes": _is("integer", "the number of transposes"),
        "bytes": {"type": ["integer", "string"], "description": "bytes that movement writes, or an expression in dims"},
        "nodes": _is("integer", "the number of nodes"),
    }
)
_CACHE: dict[str, Schema] = {
    "path": _is("string", "the folder"),
    "state": _is("string", "whether it is used"),
    "entries": _is("integer", "the number of kernels"),
    "bytes": _is("integer", "their size together"),
}

_VERIFIED = _object(
    {
        "verdict": _one_of("the least certain verdict of the outputs", "proved", "refuted", "unknown"),
        "outputs": _map(_one_of("the verdict", "proved", "refuted", "unknown"), "the verdict of each output"),
        "requires": _list(_TEXT, "what the model before demands of the sizes that the claim is about"),
        "assumed": _list(_TEXT, "what leaves out more sizes: one model states it, or the reader demands it"),
        "point": _or_null(_map(_INT, "proved: sizes for which both models are valid, by dim")),
        "laws": _list(_TEXT, "the granted laws that were needed"),
        "formulas": _list(_TEXT, "the fused functions that stand for chains: rounding may differ"),
        "formula_values": _map(_TEXT, "at which special values each of them and its chain part; empty if nowhere"),
        "differences": _map(
            _list(_is("number", "at sampled inputs"), "the largest difference, and its part of the largest value"),
            "by how much each output differs, where laws or formulas were needed",
        ),
        "region": _or_null(_list(_TEXT, "the first values that differ or were not decided, before and after")),
        "frontier": _list(_list(_TEXT, "before and after"), "all values that part although their operands do not"),
        "witness": _or_null(
            _object(
                {
                    "dims": _SIZES,
                    "output": _is("string", "the name of the output"),
                    "coord": _or_null(_INTS),
                    "before": _is("string", "what the model before computes there"),
                    "after": _is("string", "what the model after computes there"),
                    "runtimes": _map(_list(_TEXT, ""), "what each installed runtime computes before and after"),
                }
            )
        ),
        "explanation": _is("string", "the verdicts as text"),
    }
)
_CHANGED = _object(
    {
        "result": _one_of("what became of it", "PROVED", "REFUTED", "UNKNOWN", "ERROR", "NEW"),
        "explanation": _is("string", "the verdict or the error as text"),
    },
    {name: schema for name, schema in _VERIFIED["properties"].items() if name != "explanation"},
)

SCHEMAS: dict[str, Schema] = {
    "infer": _object(
        {
            **_FACTS,
            "bounds": _or_null(_list(_BOUNDS, "the bounds of each extent; null if the rank is not known")),
            "asked_by": _list(_list(_TEXT, "steps"), "for each requirement the steps that state it"),
        },
        {
            "solve": _SOLUTION,
            "values": _map(
                _object(
                    {
                        "shape": _SHAPE,
                        "dtype": _or_null(_is("string", "the element type; null is any, or not known")),
                        "kind": _is("string", "what it is: tensor, sequence, optional or map"),
                        "op": _or_null(_is("string", "the operation that computes it; null for an input")),
                    }
                ),
                "for a model: its inputs, outputs and, with --all, every value between them",
            ),
            "notes": _list(_TEXT, "for a model: what is unusual about its file"),
        },
    ),
    "show": {
        "anyOf": [
            _object(
                {
                    **_FACTS,
                    "dims": _SIZES,
                    "index_map": _is("string", "the composed map"),
                    "digits": _list(_TEXT, "the digits of the map, with their extents"),
                    "picture": {
                        "description": "lists in the output's shape: "
                        "the row-major number of the element read, -1 is fill"
                    },
                    "shown": _list(_INTS, "for each axis the coordinates in the picture"),
                },
                {"svg": _is("string", "the file that was drawn")},
                description="of a chain",
            ),
            _object(
                {
                    "boxes": _list(
                        _object(
                            {
                                "kind": _one_of("what the box is", "compute", "move", "input", "output"),
                                "lines": _list(_TEXT, "its operations and attributes, or its name and shape"),
                                "shape": _is("string", "the shape of its result; empty if that is its operand's"),
                            }
                        ),
                        "what the graph has, each box after those that it reads",
                    ),
                    "edges": _list(_list(_INT, "two numbers"), "the numbers of a box and of one that reads it"),
                    "repeated": _list(
                        _object({"boxes": _list(_INT, "their numbers"), "count": _is("integer", "how many parts")}),
                        "boxes that stand for several parts of the model",
                    ),
                },
                {"svg": _is("string", "the file that was drawn")},
                description="of a model",
            ),
        ]
    },
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
                description="with --at",
            ),
            _object({"requires": _list(_REASON, "why each requirement exists")}, description="without --at"),
        ]
    },
    "prove": _object(
        {
            "verdict": _one_of("the verdict", "proved", "refuted", "unknown"),
            "left": _object(_FACTS),
            "right": _object(_FACTS),
            "requires": _list(_TEXT, "the requirements of both sides; the claim is about sizes that meet them"),
            "same_requires": _is("boolean", "whether both sides are valid for the same sizes"),
            "witness": _or_null(_WITNESS),
            "explanation": _is("string", "the derivation"),
        }
    ),
    "optimize": _object(
        {
            "changes": _list(
                _object(
                    {
                        "rule": _one_of(
                            "what was rewritten",
                            *("movement", "layout", "pads", "repeats", "dilation", "products", "joins", "fills"),
                            *("signs", "functions", "twice", "terms", "constants", "nodes", "kernel"),
                        ),
                        "details": _list(_TEXT, "the values, and what became of them"),
                        "accepted": _is("boolean", "whether the rewrite is in the result"),
                        "reason": _is("string", "why it is not; else empty"),
                        "rewritten": _list(
                            _object(
                                {
                                    "value": _is("string", "the value, or the first output of the node"),
                                    "text": _is("string", "what became of it"),
                                    "proofs": _list(
                                        _one_of("the verdict", "proved", "refuted", "unknown"),
                                        "the verdicts of its own proofs; the outputs are proved together besides",
                                    ),
                                }
                            ),
                            "what was rewritten, each with its proofs",
                        ),
                    }
                ),
                "the rewrites that were tried",
            ),
            "before": _MOVEMENT,
            "after": _MOVEMENT,
            "verdicts": _map(_one_of("the verdict", "proved"), "the verdict of each output"),
            "laws": _list(_TEXT, "the laws under which sums run in another layout"),
            "held": _list(_TEXT, "the operators that keep values in the other layout"),
            "regions": _list(
                _object(
                    {
                        "count": _is("integer", "how many regions changed alike"),
                        "before": _list(_NODE, "the nodes of the input that are gone"),
                        "after": _list(_NODE, "the nodes that take their place"),
                        "went": _is("string", "what became of the region, in words"),
                        "why": _list(
                            _object(
                                {
                                    "rule": _is("string", "the rule that changed values of the region"),
                                    "values": _list(_TEXT, "these values"),
                                    "proved": _is("integer", "how many proofs of their own they have"),
                                }
                            ),
                            "why it is right; the outputs are proved together besides",
                        ),
                    }
                ),
                "what differs between the graphs",
            ),
            "stayed": _list(
                _object(
                    {
                        "value": _is("string", "what the node makes"),
                        "op": _is("string", "its operation"),
                        "bytes": _is("string", "how many bytes it writes"),
                        "why": _is("string", "why it is in the result"),
                    }
                ),
                "the nodes of the result that move elements",
            ),
            "out_of_time": _is("boolean", "whether the time limit ended the search"),
            "out_of_goals": _is("boolean", "whether the goals of one search ended it"),
            "out": _is("string", "the file that was written"),
        }
    ),
    "verify": {
        "anyOf": [
            _VERIFIED,
            _object(
                {
                    "since": _is("string", "the commit"),
                    "models": _map(_CHANGED, "each model that was changed, by its path in the repository"),
                },
                description="with --since",
            ),
        ]
    },
    "check": _object(
        {
            "proved": _is("boolean", "whether the certificate proves the claim"),
            "claim": _is("string", "the claim that is proved; empty if none is"),
            "reason": _is("string", "why the certificate is no proof; empty if it is one"),
        }
    ),
    "emit": _object(
        {
            "folder": _is("string", "the folder of the files"),
            "files": _list(_TEXT, "the names of the written files"),
            "removed": _list(_TEXT, "the names of removed files, which an older version wrote"),
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
            "bytes": _is("integer", "bytes of the larger of input and output"),
            "dims": _SIZES,
            "differs": _list(_TEXT, "the names of those whose result differs; they are not timed"),
            "seconds": _map(
                _object({"median": _is("number"), "least": _is("number"), "rounds": _INT}),
                "the times of the kernel, the interpreter, memcpy and each peer",
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
                                "name": _is("string", "its name in a step"),
                                "parameters": _list(_TEXT, "its arguments, with their defaults"),
                                "summary": _is("string", "the first line of its docstring"),
                            }
                        ),
                        "the operations",
                    )
                }
            ),
            _object({"markdown": _is("string", "the page")}, description="with --markdown"),
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
                    "works": _is("boolean", "whether a test kernel computes the right result"),
                    "problem": _or_null(_is("string", "why it does not work")),
                }
            ),
            "instructions": _object(
                {
                    "march": _or_null(_is("string", "the instruction set that kernels are compiled for")),
                    "processor": _list(_TEXT, "the levels of x86-64 that the processor has"),
                    "problem": _or_null(_is("string", "why SYMLAYOUT_MARCH cannot be used")),
                }
            ),
            "trampoline": _is("string", "whether repeated calls are made in C, and if not, why"),
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
            "refused": _list(_TEXT, "verify, prune: entries whose files have changed"),
            "removed": _list(_TEXT, "prune: removed entries"),
            "leftovers": _is("integer", "prune: the number of removed leftovers of killed processes"),
        },
    ),
    "completion": _object({"script": _is("string", "the completion script")}),
    "help": {
        "anyOf": [
            _object({"commands": _map(_is("object"), "each command with the schema of what it prints")}),
            _object({"markdown": _is("string", "the page")}, description="with --markdown"),
        ]
    },
}

ERROR: Schema = _object(
    {
        "error": _object(
            {
                "type": _is("string", "the class, such as ShapeError"),
                "kind": _or_null(_is("string", "the kind of a ShapeError, stable between releases; else null")),
                "message": _is("string", "the message, as on standard error"),
            }
        )
    },
    description="what every command prints after an error",
)
