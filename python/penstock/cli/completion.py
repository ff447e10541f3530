"""``penstock completion SHELL``: a script that completes commands, options and choices."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from typing import Any, NamedTuple

from penstock.cli import exits

SHELLS = ("bash", "zsh", "fish")
_EXAMPLES = (
    "penstock completion bash > ~/.local/share/bash-completion/completions/penstock",
    "penstock completion zsh > ~/.zfunc/_penstock",
    "penstock completion fish > ~/.config/fish/completions/penstock.fish",
)


def add_parser(commands: Any) -> None:
    """Add the command to the others."""
    parser = commands.add_parser(
        "completion",
        examples=_EXAMPLES,
        help="print a script that completes this command line in a shell",
        description="Print a script that completes commands, options and choices in a shell.",
    )
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the script."""
    from penstock.cli.main import parser

    commands = list(_commands(parser(), ()))
    script = {"bash": _bash, "zsh": _zsh, "fish": _fish}[options.shell](commands)
    print(script, end="")
    return exits.DONE


class _Command(NamedTuple):
    """A command by its words, the words that may follow, and its options with their choices."""

    words: tuple[str, ...]
    subcommands: dict[str, str]
    options: list[tuple[tuple[str, ...], str, tuple[str, ...], bool]]
    """Flags, help, choices, and whether a value follows."""


def _commands(parser: argparse.ArgumentParser, words: tuple[str, ...]) -> Iterator[_Command]:
    subcommands: dict[str, str] = {}
    options = []
    below: dict[str, argparse.ArgumentParser] = {}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            below = action.choices
            subcommands = {one.dest: one.help or "" for one in action._choices_actions}
        elif action.option_strings:
            choices = tuple(map(str, action.choices or ()))
            has_value = action.nargs != 0
            options.append((tuple(action.option_strings), action.help or "", choices, has_value))
        elif action.choices:
            subcommands |= {str(choice): "" for choice in action.choices}
    yield _Command(words, subcommands, options)
    for name, child in below.items():
        yield from _commands(child, (*words, name))


def _bash(commands: list[_Command]) -> str:
    lines = ["# Completes penstock in bash.", "_penstock() {"]
    lines += ['  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"']
    lines += ['  local path="" i', "  for ((i = 1; i < COMP_CWORD; i++)); do"]
    lines += ['    case "$path ${COMP_WORDS[i]}" in']
    paths = [" " + " ".join(one.words) for one in commands if one.words]
    lines += [f'      {"|".join(map(_pattern, paths))}) path="$path ${{COMP_WORDS[i]}}" ;;']
    lines += ["    esac", "  done", '  case "$path:$before" in']
    for command in commands:
        path = " " + " ".join(command.words) if command.words else ""
        for flags, _, choices, has_value in command.options:
            for flag in flags if has_value else ():
                found = f"-W {shlex.quote(' '.join(choices))}" if choices else "-f"
                lines.append(
                    f"    {_pattern(f'{path}:{flag}')}) "
                    f'mapfile -t COMPREPLY < <(compgen {found} -- "$word"); return ;;'
                )
    lines += ["  esac", '  case "$path" in']
    for command in commands:
        path = " " + " ".join(command.words) if command.words else ""
        words = [*command.subcommands, *(flag for flags, *_ in command.options for flag in flags)]
        quoted = shlex.quote(" ".join(words))
        lines.append(
            f'    {_pattern(path)}) mapfile -t COMPREPLY < <(compgen -W {quoted} -- "$word") ;;'
        )
    lines += ["  esac", "}", "complete -o default -F _penstock penstock"]
    return "\n".join(lines) + "\n"


def _pattern(text: str) -> str:
    return f'"{text}"'


def _zsh(commands: list[_Command]) -> str:
    """Return the script of bash, which zsh runs as well."""
    head = "#compdef penstock\nautoload -Uz bashcompinit && bashcompinit\n"
    # `mapfile` is the one thing that zsh lacks.
    portable = _bash(commands).replace("mapfile -t COMPREPLY < <(", "COMPREPLY=($(")
    return head + portable.replace('"$word");', '"$word"));').replace('"$word") ;;', '"$word")) ;;')


def _fish(commands: list[_Command]) -> str:
    lines = ["# Completes penstock in fish."]
    for command in commands:
        seen = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in command.words)
        if not command.words:
            seen = "__fish_use_subcommand"
        elif command.subcommands:
            inner = " ".join(command.subcommands)
            seen += f"; and not __fish_seen_subcommand_from {inner}"
        start = f"complete -c penstock -n {shlex.quote(seen)}"
        for name, help_ in command.subcommands.items():
            lines.append(f"{start} -f -a {name} -d {shlex.quote(help_)}")
        for flags, help_, choices, has_value in command.options:
            names = " ".join(
                f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in flags
            )
            more = f" -x -a {shlex.quote(' '.join(choices))}" if choices else ""
            more = more or (" -r" if has_value else "")
            lines.append(f"{start} {names}{more} -d {shlex.quote(help_)}")
    return "\n".join(lines) + "\n"
