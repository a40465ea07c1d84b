"""``python -m sinkdist``: the command line under the name of the package."""

from sinkdist.cli import main

if __name__ == "__main__":
    main()
