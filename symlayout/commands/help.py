"""Print what each command does, examples of it, and what it prints with --json.

for example:
  symlayout help
  symlayout help prove
  symlayout help infer --json
  symlayout help --markdown > docs/cli.md
"""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Iterator
from typing import Any

from symlayout.commands.output.describe import Described, describe_all
from symlayout.commands.output.report import ExitStatus, Report, columns
from symlayout.commands.output.schemas import ERROR, SCHEMAS, Schema
from symlayout.errors import UnknownOpError, shown

HEAD = f"""# The command line

Written by `symlayout help --markdown`. Most commands take a shape and steps, such as
`"N,C,2*h,2*w" "space_to_depth(2)"`, or a model (`model.xml`, `model.onnx`) and steps. `-` reads them from the lines of
standard input. `symlayout ops` lists the operations.

| exit status | meaning |
|---|---|
{chr(10).join(f"| {status} | {status.meaning} |" for status in ExitStatus)}

Progress goes to standard error. Progress and colours appear only on a terminal; `NO_COLOR` turns colours off.
`symlayout completion bash` prints the completion for a shell (also `zsh`, `fish`).

With `--json`, every command prints one object, described below. `symlayout help COMMAND --json` prints its JSON Schema.
A command that fails, or a command line that is wrong, prints
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("topic", nargs="?", metavar="COMMAND", help="the command to explain (default: all)")
    parser.add_argument("--markdown", action="store_true", help="print the reference page")


def run(arguments: argparse.Namespace) -> Report:
    """Return the help of one command or all, or the reference page."""
    commands = {command.name: command for command in describe_all(arguments.commands)}
    if arguments.markdown:
        page = markdown(list(commands.values()))
        return Report(page, {"markdown": page})
    if arguments.topic is None:
        rows = [(name, command.summary) for name, command in commands.items()]
        text = f"{columns(rows)}\n\nsymlayout help COMMAND has examples, symlayout COMMAND --help the options"
        return Report(text, {"commands": {name: _data(command) for name, command in commands.items()}})
    if arguments.topic not in commands:
        near = difflib.get_close_matches(arguments.topic, commands, n=1)
        meant = f"; the nearest is {near[0]}" if near else ""
        raise UnknownOpError(f"no command is called {shown(arguments.topic)}{meant}\n  known: {', '.join(commands)}")
    command = commands[arguments.topic]
    parts = [command.summary, command.text, "\n".join(["for example:", *(f"  {e}" for e in command.examples)])]
    parts += ["\n".join(["with --json:", *(f"  {line}" for line in _keys(SCHEMAS[command.name]))])]
    return Report("\n\n".join(part for part in parts if part), {"commands": {command.name: _data(command)}})


def _data(command: Described) -> dict[str, Any]:
    return {
        "summary": command.summary,
        "examples": list(command.examples),
        "options": [
            {"names": list(o.names), "metavar": o.metavar, "help": o.help, "choices": list(o.choices)}
            for o in command.options
        ],
        "json": SCHEMAS[command.name],
    }


def markdown(commands: list[Described]) -> str:
    """Return the reference page of all commands."""
    parts = [HEAD.rstrip(), _table(ERROR)]
    for command in commands:
        parts += [f"## symlayout {command.name}", command.summary]
        parts += [command.text] if command.text else []
        parts += ["```sh\n" + "\n".join(_shell(e) for e in command.examples) + "\n```"]
        parts += [_options(command)]
        schema = SCHEMAS[command.name]
        for variant in schema.get("anyOf", [schema]):
            parts += [f"JSON{', ' if says else ''}{says}:" for says in [variant.get("description", "")]]
            parts += [_table(variant)]
    return "\n\n".join(parts)


def _shell(example: str) -> str:
    """Return an example with the explanation after it as a shell comment."""
    command, gap, comment = example.partition("    ")
    return f"{command}{gap and '    # '}{comment.strip()}"


def _options(command: Described) -> str:
    lines = ["| argument | meaning |", "|---|---|"]
    for o in command.options:
        written = ", ".join(f"`{name}`" for name in o.names) or "`" + (o.metavar or "").replace("|", "\\|") + "`"
        written += f" `{o.metavar}`" if o.names and o.metavar else ""
        lines.append(f"| {written} | {o.help or ', '.join(o.choices)} |")
    return "\n".join(lines)


def _table(schema: Schema) -> str:
    return "\n".join(["| key | type | meaning |", "|---|---|---|", *_rows(schema, "")])


def _rows(schema: Schema, prefix: str) -> Iterator[str]:
    """Yield a row for each key of an object.  The rows of a nested object follow that of its key."""
    for key, value in schema.get("properties", {}).items():
        optional = "" if key in schema["required"] else " (optional)"
        yield f"| `{prefix}{key}`{optional} | {_type(value)} | {value.get('description', '')} |"
        yield from _rows(value, f"{prefix}{key}.")
        yield from _rows(value.get("items", {}), f"{prefix}{key}[].")
        if isinstance(inner := value.get("additionalProperties"), dict):
            yield from _rows(inner, f"{prefix}{key}.*.")


def _type(schema: Schema) -> str:
    """Return a type in words.

    >>> _type({"type": "array", "items": {"type": ["integer", "null"]}})
    'list of integer or null'
    """
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    types = schema.get("type", "any")
    named = " or ".join(types if isinstance(types, list) else [types])
    if "items" in schema:
        return named.replace("array", f"list of {_type(schema['items'])}")
    if isinstance(inner := schema.get("additionalProperties"), dict):
        return named.replace("object", f"map to {_type(inner)}")
    return named


def _keys(schema: Schema) -> list[str]:
    """Return a line for each key of an answer, with its meaning.  Alternative answers follow one after another."""
    lines = []
    for variant in schema.get("anyOf", [schema]):
        lines += [f"{variant['description']}:"] if "description" in variant else []
        rows = [(key, value.get("description", _type(value))) for key, value in variant["properties"].items()]
        lines += columns(rows).splitlines()
    return lines
