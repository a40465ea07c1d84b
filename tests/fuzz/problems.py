"""Problems: pure functions of a seed and an index."""

import math
from dataclasses import dataclass, field, replace

import numpy as np

from tests.fuzz import draw

TINY = {np.dtype("f8"): 1e-100, np.dtype("f4"): float(np.finfo("f4").tiny)}

FORMS = {"one": 62, "matched": 12, "one to many": 12, "all": 8, "two families": 6}


@dataclass(frozen=True, eq=False)
class Problem:
    """What is asked of the package, as it is given: histograms in rows, costs, options."""

    R: np.ndarray
    C: np.ndarray
    M: np.ndarray
    options: dict = field(default_factory=dict)
    form: str = "one"
    sparse: bool = False
    places: np.ndarray | None = None  #: of bins on a line, where the ground knows of it
    index: int = 0

    @property
    def pairs(self):
        """Rows of R and of C that are compared."""
        n, m = len(self.R), len(self.C)
        if self.form in ("all", "two families"):
            return [(i, j) for i in range(n) for j in range(m)]
        return [(0 if n == 1 else k, k) for k in range(m)]

    @property
    def is_refused(self):
        """Whether the one refusal that is documented for such problems is due: beyond float32."""
        largest = self.M.max()
        return self.dtype == np.float32 and largest > 0.0 and not 1e-33 <= largest <= 1e37

    @property
    def dtype(self):
        """What is computed in."""
        both = np.result_type(self.R, self.C)
        return np.dtype(self.options.get("dtype") or both)

    @property
    def tol(self):
        return self.options.get("tol") or (1e-4 if self.dtype == np.float32 else 1e-6)

    @property
    def lam(self):
        """The lam that was asked for; None for an alpha between its limits."""
        if "reg" in self.options:
            reg = self.options["reg"]
            return math.inf if reg == 0 else 1.0 / reg
        if "lam" in self.options:
            return self.options["lam"]
        return self.alpha if self.alpha in (0.0, math.inf) else None

    @property
    def alpha(self):
        return self.options.get("alpha")

    @property
    def kind(self):
        """penalised, constrained, exact, independence or fixed."""
        if self.lam is None:
            return "constrained"
        if self.lam < 1e-300:
            return "independence"
        if self.lam == math.inf:
            return "exact"
        return "fixed" if "iterations" in self.options else "penalised"

    def pair(self, i, j):
        """The same question about one pair."""
        return replace(
            self, R=self.R[i : i + 1], C=self.C[j : j + 1], form="one", sparse=False
        )  # fmt: skip


def make(seed, index):
    """The problem of that number."""
    rng = np.random.default_rng([seed, index])
    form = draw.choose(rng, FORMS)
    d1, d2 = draw.sizes(rng)
    d2 = d1 if form == "all" else d2
    places = None
    M = draw.costs(rng, d1, d2)
    if d1 == d2 and rng.random() < 0.05:
        places = np.round(rng.standard_normal(d1), int(rng.integers(0, 18)))
        M = np.abs(np.subtract.outer(places, places))
    n, m = _counts(rng, form, max(d1, d2))
    R = np.array([draw.histogram(rng, d1) for _ in range(n)])
    related = d1 == d2 and rng.random() < 0.15
    C = np.array([
        draw.relative(rng, R[k % n]) if related else draw.histogram(rng, d2) for k in range(m)
    ])  # fmt: skip
    if form == "all":
        C = R
    options = _strength(rng, R[0], C[0], M)
    _stopping(rng, options, max(d1, d2))
    R, C = _as_given(rng, options, R, C, one_family=form == "all")
    sparse = form != "one" and rng.random() < 0.15
    return Problem(R, C, M, options, form, sparse, places, index)


def _counts(rng, form, d):
    """How many histograms on either side."""
    if form == "one":
        return 1, 1
    many = int(rng.integers(9, 12)) if d > 160 or rng.random() < 0.1 else int(rng.integers(2, 5))
    if form == "matched":
        return many, many
    if form == "one to many":
        return 1, many
    small = min(many, 5)
    return small, small if form == "all" else int(rng.integers(1, small + 1))


def _strength(rng, r, c, M):
    """lam, reg or alpha."""
    positive = M[M > 0]
    unit = float(np.median(M)) or (float(positive.max()) if positive.size else 1.0)
    kinds = {"lam": 45, "far": 20, "alpha": 20, "exact": 7, "zero": 2, "reg": 4, "limit": 2}
    kind = draw.choose(rng, kinds)
    if kind == "lam":
        return {"lam": draw.power(rng, -1, 4) / unit}
    if kind == "far":
        return {"lam": draw.power(rng, -18, 12) / unit}
    if kind == "reg":
        return {"reg": unit / draw.power(rng, -2, 5)}
    if kind == "exact":
        return {"lam": math.inf}
    if kind == "zero":
        return {"lam": 0.0}
    if kind == "limit":
        return [{"alpha": 0.0}, {"alpha": math.inf}, {"reg": 0.0}][rng.integers(3)]
    entropy = max(min(_entropy(r), _entropy(c)), 1e-5)
    low = -12.0 if rng.random() < 0.1 else -6.0
    return {"alpha": draw.power(rng, low, math.log10(3 * entropy))}


def _entropy(x):
    x = x[x > 0]
    return float(-(x * np.log(x)).sum())


def _stopping(rng, options, d):
    """Tolerance, cap, or a fixed number of steps; a solver by name."""
    positive = math.inf not in options.values() and 0.0 not in options.values()
    penalised = "alpha" not in options and positive
    if penalised and rng.random() < 0.08:
        options["iterations"] = int(rng.integers(1, 51))
        return
    chance = rng.random()
    if chance < 0.3:
        options["tol"] = float(rng.choice([1e-3, 1e-9, 1e-12]))
    if penalised and rng.random() < 0.35:
        names = ["plain", "relaxed", "newton", "log"]
        options["solver"] = names[rng.integers(4)]
        if d > 12 and options["solver"] != "newton":
            options["max_iter"] = 1000
    if "alpha" in options and options.get("tol", 1.0) < 1e-9:
        options["max_iter"] = 500  # else a search may take a minute
    if rng.random() < 0.08:
        options["max_iter"] = int(rng.choice([1, 5, 50]))


def _as_given(rng, options, R, C, *, one_family):
    """In another dtype, or not normalised, now and then."""
    chance = rng.random()
    if chance < 0.08:
        R, C = R.astype("f4"), C.astype("f4")
        R[R < 1e-37], C[C < 1e-37] = 0.0, 0.0
    elif chance < 0.11:
        options["dtype"] = "float32"
    elif chance < 0.17:
        options["normalize"] = True
        R = R * draw.power(rng, *draw.choose(rng, {(-3, 3): 2, (-190, 250): 1}))
        C = R if one_family else C * draw.power(rng, -3, 3)
    return R, R if one_family else C
