"""``sinkdist`` and ``python -m sinkdist``: the command line, or a sentence on what it needs.

Outside of `sinkdist.cli`, which cannot be imported without Typer.
"""

import sys

from sinkdist.errors import MissingExtraError, needs_extra

__all__ = ["main"]


def main() -> None:
    """Run the command line; exit code 2 and one sentence where Typer is not installed."""
    try:
        with needs_extra("cli", "The command line"):
            import typer  # noqa: F401
    except MissingExtraError as error:
        sys.stderr.write(f"Error: {error}\n")
        sys.exit(2)
    from sinkdist import cli

    cli.main()


if __name__ == "__main__":
    main()
