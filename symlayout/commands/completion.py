"""Print the completion script for a shell: it completes commands, options, operations and files.

for example:
  symlayout completion bash > ~/.local/share/bash-completion/completions/symlayout
  symlayout completion zsh > "${fpath[1]}/_symlayout"
  symlayout completion fish > ~/.config/fish/completions/symlayout.fish
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from symlayout.commands.output.describe import add_common
from symlayout.commands.output.report import Report
from symlayout.commands.subject import CORE_OPS
from symlayout.frontends import registry

SHELLS = ("bash", "zsh", "fish")

# A word may be a step, which begins with an operation, or a model, which is a file.  In bash, a colon ends a word.
_STEPS = {
    "bash": """_symlayout_steps_or_files() {
    local line=${COMP_LINE:0:COMP_POINT} before= step
    local word=${line##* }
    word=${word#[\\"\\']}
    [[ $word == *:* && $COMP_WORDBREAKS == *:* ]] && before=${word%"${word##*:}"}
    for step in $(compgen -W "STEPS" -- "$word"); do echo "${step#"$before"}"; done
    compgen -f -- "$1"
}""",
    "zsh": "_symlayout_steps_or_files() { compadd -- STEPS; _files }",
    "fish": """function _symlayout_steps_or_files
    string split ' ' 'STEPS'
    __fish_complete_path (commandline -ct)
end""",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("shell", choices=SHELLS, help="the shell that reads the script")


def run(arguments: argparse.Namespace) -> Report:
    """Return the script."""
    script = make(arguments.shell, arguments.commands)
    return Report(script, {"script": script})


def make(shell: str, commands: Mapping[str, ModuleType]) -> str:
    """Return the completion script of *shell* for *commands*."""
    import shtab  # here, because the import takes 0.1 s

    steps = " ".join([*CORE_OPS, *registry.names()])
    name = "_symlayout_steps_or_files"
    preamble = {kind: text.replace("STEPS", steps) for kind, text in _STEPS.items()}
    kinds = {
        "STEP": {"bash": name, "zsh": name, "fish": f"({name})", "preamble": preamble},
        "FILE": shtab.FILE,
        "DIR": shtab.DIRECTORY,
    }

    class Completed(argparse.ArgumentParser):
        """A parser that tells shtab how to complete each argument."""

        def add_argument(self, *names: str, **options: Any) -> argparse.Action:
            action = super().add_argument(*names, **options)
            for kind, complete in kinds.items():
                if kind in str(action.metavar):
                    action.complete = complete  # type: ignore[attr-defined]  # shtab reads this attribute
            if action.metavar == "COMMAND":
                action.choices = list(commands)
            return action

    parser = Completed(prog="symlayout")
    parser.add_argument("--version", action="version", version="")
    added = parser.add_subparsers(dest="command")
    for command, module in commands.items():
        described = added.add_parser(command, help=(module.__doc__ or "").partition("\n")[0])
        module.add_arguments(described)
        add_common(described)
    script: str = shtab.complete(parser, shell)
    # For a repeated argument, shtab writes "(*):", with which zsh completes the first word only; "*:" completes all.
    return re.sub(r'"\(\*\)::?', '"*:', script).rstrip("\n")
