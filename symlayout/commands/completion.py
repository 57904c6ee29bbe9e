"""Print a shell's completion: commands, options, operations and files.

for example:
  symlayout completion bash > ~/.local/share/bash-completion/completions/symlayout
  symlayout completion zsh > "${fpath[1]}/_symlayout"
  symlayout completion fish > ~/.config/fish/completions/symlayout.fish
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence

from symlayout.commands.output.describe import Described, describe_all
from symlayout.commands.output.report import Report
from symlayout.commands.subject import CORE_OPS
from symlayout.frontends import registry

SHELLS = ("bash", "zsh", "fish")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("shell", choices=SHELLS, help="which shell")


def run(arguments: argparse.Namespace) -> Report:
    """Print the script."""
    script = make(arguments.shell, describe_all(arguments.commands))
    return Report(script, {"script": script})


def make(shell: str, commands: Sequence[Described]) -> str:
    """Return the completion script of *shell* for *commands*."""
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](commands)


def _flags(command: Described) -> list[str]:
    return [name for option in command.options for name in option.names] + ["--help"]


def _choices(command: Described, commands: Sequence[Described]) -> list[str]:
    """Return what may stand in the place of a word: what an argument allows, an operation, or a command."""
    words = [option for option in command.options if not option.names]
    known = [choice for option in words for choice in option.choices]
    if any("STEP" in option.metavar for option in words):
        known += [*CORE_OPS, *registry.names()]
    if any(option.metavar == "COMMAND" for option in words):
        known += [c.name for c in commands]
    return known


def _cases(commands: Sequence[Described]) -> str:
    """Return the branches of a shell's case: a command's options and what may stand in the place of a word."""
    return "\n".join(
        f"        {c.name})\n"
        f"            flags={shlex.quote(' '.join(_flags(c)))}\n"
        f"            known={shlex.quote(' '.join(_choices(c, commands)))} ;;"
        for c in commands
    )


def _bash(commands: Sequence[Described]) -> str:
    names = " ".join(c.name for c in commands)
    return f"""# completion of symlayout for bash
_symlayout() {{
    local line=${{COMP_LINE:0:COMP_POINT}} flags= known=
    local word=${{line##* }}
    word=${{word#[\\"\\']}}
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "{names} --help --version" -- "$word"))
        return
    fi
    case ${{COMP_WORDS[1]}} in
{_cases(commands)}
    esac
    if [ "${{word:0:1}}" = - ]; then
        COMPREPLY=($(compgen -W "$flags" -- "$word"))
    else
        COMPREPLY=($(compgen -W "$known" -- "$word"))
    fi
    if [[ $word == *:* && $COMP_WORDBREAKS == *:* ]]; then # what stands before the colon is a word of its own
        COMPREPLY=("${{COMPREPLY[@]#"${{word%"${{word##*:}}"}}"}}")
    fi
}}
complete -o default -F _symlayout symlayout"""


def _zsh(commands: Sequence[Described]) -> str:
    described = " ".join(shlex.quote(f"{c.name}:{c.summary}") for c in commands)
    return f"""#compdef symlayout
# completion of symlayout for zsh
_symlayout() {{
    local flags known
    local -a commands
    if (( CURRENT == 2 )); then
        commands=({described})
        _describe command commands
        return
    fi
    case $words[2] in
{_cases(commands)}
    esac
    if [[ $PREFIX == -* ]]; then
        compadd -- ${{=flags}}
    else
        compadd -- ${{=known}} || _files
    fi
}}
compdef _symlayout symlayout"""


def _fish(commands: Sequence[Described]) -> str:
    lines = ["# completion of symlayout for fish"]
    for c in commands:
        lines.append(f"complete -c symlayout -n __fish_use_subcommand -x -a {c.name} -d {_fish_quoted(c.summary)}")
        used = f"-n '__fish_seen_subcommand_from {c.name}'"
        for option in c.options:
            for name in option.names:
                kind = f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
                lines.append(f"complete -c symlayout {used} {kind} -d {_fish_quoted(option.help)}")
        if choices := _choices(c, commands):
            lines.append(f"complete -c symlayout {used} -a {_fish_quoted(' '.join(choices))}")
    return "\n".join(lines)


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
