"""A failing problem made small, and printed as a script that stands on its own.

Whatever still fails the same check is kept: fewer pairs, fewer options, fewer bins, shorter
numbers. Trials are made in a process of their own, so that one that hangs or dies is an answer too.
"""

import math
import multiprocessing
import time
from dataclasses import replace

import numpy as np

LOST = ("hangs", "crashes")
FIRST = 30.0  #: seconds more for a process's first problem, which loads and compiles


class Trials:
    """Asks a process whether a problem fails a check; one that does not answer is replaced."""

    def __init__(self, check, limit=10.0, seconds=90.0):
        self.check, self.limit, self.end = check, limit, time.monotonic() + seconds
        self.process = None
        self.sentence = ""

    def fail(self, problem):
        """Whether the check fails; False as well when the time is over."""
        if time.monotonic() > self.end:
            return False
        if self.process is None:
            self._begin()
        self.pipe.send((problem, None if self.check in LOST else self.check))
        limit, self.grace = self.limit + self.grace, 0.0
        try:
            found = self.pipe.recv() if self.pipe.poll(limit) else [("hangs", "no answer")]
        except (EOFError, OSError):
            found = [("crashes", "the process died")]
        if found and found[0][0] in LOST:
            self.stop()
        sentences = [sentence for name, sentence in found if name == self.check]
        self.sentence = sentences[0] if sentences else self.sentence
        return bool(sentences)

    def _begin(self):
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_try, args=(theirs,), daemon=True)
        self.grace = FIRST
        self.process.start()
        theirs.close()
        self.pipe.recv()  # it has imported all it needs

    def stop(self):
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.process = None


def _try(pipe):
    """The loop of the process."""
    from tests.fuzz import judge

    pipe.send("ready")
    while True:
        problem, only = pipe.recv()
        try:
            pipe.send(judge.examine(problem, only).violations)
        except Exception as error:
            pipe.send([("fuzzer", repr(error))])


def shrink(problem, trials):
    """The smallest problem found that still fails."""
    if not trials.fail(problem):
        return problem
    progress = True
    while progress:
        progress = False
        for simpler in candidates(problem):
            if trials.fail(simpler):
                problem, progress = simpler, True
                break
    trials.fail(problem)
    return problem


def candidates(problem):
    """Simpler problems, the greatest simplifications first."""
    if problem.form != "one":
        yield from (problem.pair(i, j) for i, j in problem.pairs)
        yield from _fewer_rows(problem)
    for name in ("normalize", "dtype", "max_iter", "solver", "tol"):
        if name in problem.options:
            options = {key: value for key, value in problem.options.items() if key != name}
            yield replace(problem, options=options)
    if problem.places is not None:
        yield replace(problem, places=None)
    if problem.sparse:
        yield replace(problem, sparse=False)
    yield from _fewer_bins(problem)
    yield from _shorter_numbers(problem)


def _fewer_rows(problem):
    for k in range(len(problem.C)):
        C = np.delete(problem.C, k, axis=0)
        together = problem.form == "matched" and len(problem.R) > 1
        R = C if problem.form == "all" else problem.R
        R = np.delete(problem.R, k, axis=0) if together else R
        if len(C) > 1:
            yield replace(problem, R=R, C=C)


def _fewer_bins(problem):
    """Without one bin; of either side, or of both where they are the same bins."""
    for axis, X in ((0, problem.R), (1, problem.C)):
        for k in range(problem.M.shape[axis]):
            if problem.M.shape[axis] == 1 or problem.places is not None:
                continue
            rest = _normalised(np.delete(X, k, axis=1))
            M = np.delete(problem.M, k, axis=axis)
            if rest is not None and problem.form != "all":
                yield replace(problem, M=M, **{"RC"[axis]: rest})
    if problem.M.shape[0] == problem.M.shape[1] > 1:
        for k in range(len(problem.M)):
            R, C = (_normalised(np.delete(X, k, axis=1)) for X in (problem.R, problem.C))
            if R is not None and C is not None:
                M = np.delete(np.delete(problem.M, k, axis=0), k, axis=1)
                places = None if problem.places is None else np.delete(problem.places, k)
                yield replace(problem, M=M, R=R, C=C, places=places)


def _shorter_numbers(problem):
    for digits in (1, 2, 4):
        if problem.places is None:
            yield from _if_new(problem, M=_short(problem.M, digits))
        for name in "RC" if problem.form != "all" else ():
            rounded = _normalised(_short(getattr(problem, name), digits))
            if rounded is not None:
                yield from _if_new(problem, **{name: rounded})
        for name in ("lam", "reg", "alpha"):
            value = problem.options.get(name, math.inf)
            short = float(f"{value:.{digits - 1}e}") if 0 < value < math.inf else value
            if short != value:
                yield replace(problem, options={**problem.options, name: short})


def _if_new(problem, **changes):
    ((name, value),) = changes.items()
    if not np.array_equal(value, getattr(problem, name)):
        yield replace(problem, **changes)


def _short(X, digits):
    flat = [float(f"{x:.{digits - 1}e}") for x in np.asarray(X, float).ravel().tolist()]
    return np.array(flat, X.dtype).reshape(X.shape)


def _normalised(X):
    """Rows that sum to 1 again, as they are if they do; None if one has lost its mass."""
    sums = np.array([math.fsum(row) for row in X.tolist()])
    if not (sums > 0).all():
        return None
    return X if (sums == 1).all() else (X / sums[:, None]).astype(X.dtype)


def script(problem, check, sentence):
    """The problem as a script."""
    options = ", ".join(f"{name}={_literal(value)}" for name, value in problem.options.items())
    lines = [f"# {check}: {sentence}", "import numpy as np", "import sinkdist as sd", ""]
    if problem.places is None:
        lines.append(f"M = {_array(problem.M)}")
    else:
        lines.append(f"M = sd.Ground.points({_array(problem.places)})")
    one = problem.form == "one"
    single = one or problem.form == "one to many"
    lines.append(f"r = {_array(problem.R[0] if single else problem.R)}")
    lines.append(f"c = {_array(problem.C[0] if one else problem.C)}")
    if problem.sparse:
        lines.append("from scipy.sparse import csr_array")
        lines.append("c = csr_array(c)" if single else "r, c = csr_array(r), csr_array(c)")
    if problem.form in ("all", "two families"):
        sides = "r" if problem.form == "all" else "r, c"
        lines.append(f"print(sd.pairwise({sides}, ground=M, {options}))")
        return "\n".join(lines)
    if problem.sparse:
        lines.append(f"print(sd.distance(r, c, M, {options}))")
        dense = "r, c.toarray()" if single else "r.toarray(), c.toarray()"
        lines.append(f"print(sd.distance({dense}, M, {options}))")
    elif not one:
        first = "r" if single else "r[k]"
        lines.append(f"print(sd.distance(r, c, M, {options}))")
        lines.append(f"print([sd.distance({first}, c[k], M, {options}) for k in range(len(c))])")
    lines.append(f"s = sd.solve(r, c, M, {options})")
    lines.append("print(s, s.status, s.lam, s.emd_bounds, s.bracket, s.gap, s.plan)")
    return "\n".join(lines)


def _literal(value):
    return 'float("inf")' if value == math.inf else repr(value)


def _array(X):
    kind = ", dtype=np.float32" if X.dtype == np.float32 else ""
    return f"np.array({X.tolist()}{kind})"
