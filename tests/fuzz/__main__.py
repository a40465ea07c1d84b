"""``python -m tests.fuzz``: see ``--help``."""

import argparse
import os
import sys
import time

# One thread each for what is called from several processes; before anything imports NumPy.
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")


def say(text):
    """Print at once."""
    print(text, flush=True)


def main(arguments=None):
    """Run, or look at one problem; 1 where something is wrong."""
    import sinkdist
    from tests.fuzz import run

    options = _read(arguments)
    say(f"sinkdist {sinkdist.__version__} in {os.path.dirname(sinkdist.__file__)}")
    if options.only is not None:
        found = run.judge_one(options.seed, options.only)
        for name, sentence in found:
            say(f"{name}: {sentence}")
        for name in dict(found):
            say(run.reproduction(options.seed, options.only, name, options.shrink))
        return int(bool(found))
    progress = run.run(
        options.count, options.seed, options.seconds, options.processes, options.limit,
        options.resume, say,
    )  # fmt: skip
    first = {name: index for name, index, _ in sorted(progress.violations, reverse=True)}
    end = time.monotonic() + 5.0 * options.shrink
    for name, index in first.items():
        if time.monotonic() < end:
            say(run.reproduction(options.seed, index, name, options.shrink))
    for line in run.summary(progress, options.seed):
        say(line)
    return int(bool(progress.violations))


def _read(arguments):
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=2000, help="problems 0 to COUNT")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=3600.0, help="stop after so long")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for one problem")
    parser.add_argument("--resume", metavar="FILE", help="keep progress there, and go on from it")
    parser.add_argument("--shrink", type=float, default=30.0, help="seconds for a reproduction")
    parser.add_argument("--only", type=int, metavar="INDEX", help="judge one problem")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
