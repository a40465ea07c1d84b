"""Commands from other distributions, found by entry points in the group ``sinkdist.commands``.

The name of an entry point is the name of the command. It refers to a `typer.Typer` application with
one command, made with ``add_completion=False``, and is imported only when the command is run or
listed. Commands of sinkdist-paper are always listed: where it is not installed, they say how to
install it.
"""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import Any

import typer
from typer.core import TyperGroup

from sinkdist.errors import InputError

__all__ = ["GROUP", "Commands"]

GROUP = "sinkdist.commands"

# What sinkdist-paper adds, with the help shown while it is not installed.
_OF_PAPER = {
    "demo": "Compare 1,797 handwritten digits with each other.",
    "reproduce": "Measure the paper's figures again.",
}
_INSTALL = "pip install ./reproduction"


class Commands(TyperGroup):
    """The commands of `sinkdist`: its own, and those of installed plug-ins; its own come first."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of all commands, in the order of the help page."""
        own = super().list_commands(ctx)
        return [*own, *sorted({*_OF_PAPER, *_installed()} - set(own))]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command by its name, or None if there is no such command."""
        own = super().get_command(ctx, cmd_name)
        if own is not None:
            return own
        plugin = _installed().get(cmd_name)
        if plugin is not None:
            return _load(plugin)
        return _not_installed(cmd_name) if cmd_name in _OF_PAPER else None


def _installed() -> dict[str, EntryPoint]:
    """The entry points of installed plug-ins, by the names of their commands."""
    return {plugin.name: plugin for plugin in entry_points(group=GROUP)}


def _load(plugin: EntryPoint) -> Any:
    """The command of a plug-in; if it cannot be imported, a command that reports the error."""
    try:
        command = typer.main.get_command(plugin.load())
    except Exception as error:  # in code of others: it must not disable all other commands
        owner = plugin.dist.name if plugin.dist else plugin.module
        return _failing(
            plugin.name,
            f"Cannot be loaded: reinstall {owner}.",
            f"'sinkdist {plugin.name}' cannot be loaded ({type(error).__name__}: {error}). "
            f"Reinstall {owner}.",
        )
    command.name = plugin.name
    return command


def _not_installed(name: str) -> Any:
    """A command that says how to install sinkdist-paper."""
    return _failing(
        name,
        f"{_OF_PAPER[name]} Not installed: run {_INSTALL} in a clone of sinkdist.",
        f"'sinkdist {name}' is part of sinkdist-paper, which is not installed: run {_INSTALL} in a "
        "clone of the sinkdist repository.",
    )


def _failing(name: str, description: str, message: str) -> Any:
    """A command that accepts any arguments and ends in an error."""
    application = typer.Typer(add_completion=False)
    any_arguments = {"allow_extra_args": True, "ignore_unknown_options": True}

    @application.command(name, help=description, context_settings=any_arguments)
    def fail() -> None:
        raise InputError(message)

    return typer.main.get_command(application)
