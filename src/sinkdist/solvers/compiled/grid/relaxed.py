"""Over-relaxed sweeps for one lam on one grid: for cityblock and Euclidean distances.

Their sweeps are cheap, four multiplications for a pixel and an axis or two Fourier transforms, and
their plans are far from any smooth kernel that Newton's systems could be preconditioned with. When
to relax, and by how much, is decided as for every other pair (`compiled.relaxation`). Where
accurate sums are dearer, sweeps have no more accuracy than they need; what they end at is judged by
accurate ones.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.ground.grid_plan import log_sum
from sinkdist.solvers.compiled.grid.newton import State, Target, state_at
from sinkdist.solvers.compiled.relaxation import (
    CONVERGED,
    FIELDS,
    FOREVER,
    OMEGA,
    begin,
    decide,
)

__all__ = ["converge"]

Array = npt.NDArray[Any]

_NOTICED = 0.01  #: of the tolerance: the error of sums
_SAFE = 600.0  #: exponents of the kernel, and of potentials, whose sums do not underflow


def converge(at: Target, psi: Array, tol: float, limit: int) -> State:
    """Sweeps until the error is at most ``tol``, or ``limit`` of them are made."""
    exact, at = at, _loosened(at, tol)
    tol -= at.kernel.rounding
    policy = np.empty(FIELDS)
    begin(policy)
    some, others = _pixels(at.r), _pixels(at.c)
    c, log_r, log_c = at.c[others], at.log_r[some], at.log_c[others]
    v, u, made = psi[others], None, 0
    while made < limit:
        at.stop.check()
        made += 1
        omega = float(policy[OMEGA])
        new = log_r - _log_product(at, v, others)[some]
        u = new if u is None or omega == 1.0 else u + omega * (new - u)
        target = log_c - _log_product(at, u, some)[others]
        error = _moved(at, v, target, c)
        if decide(policy, error, tol, FOREVER) == CONVERGED:
            break
        v = target if omega == 1.0 else v + omega * (target - v)
    return state_at(exact, _placed(v, others), made)


def _loosened(at: Target, tol: float) -> Target:
    """The same pair, with sums that are as accurate as the tolerance makes it worth."""
    error = max(at.kernel.error, _NOTICED * tol)
    return replace(at, kernel=at.kernel._replace(error=error))


def _moved(at: Target, v: Array, target: Array, c: Array) -> float:
    """How much the sums of columns are off: ``sum c |v / target - 1|``, from logarithms."""
    terms = np.empty_like(v)

    def part(start: int, stop: int) -> None:
        x = v[start:stop] - target[start:stop]
        np.expm1(np.minimum(x, 700.0, out=x), out=x)
        np.multiply(np.abs(x, out=x), c[start:stop], out=terms[start:stop])

    at.run(len(v), part)
    return float(terms.sum())


def _log_product(at: Target, x: Array, some: Any) -> Array:
    """``log(K exp(x))`` for log scalings on some pixels; by plain sums where these are safe."""
    metric, sharpness, _ = at.kernel
    top = float(x.max())
    reach = sum(s * (n - 1) for s, n in zip(sharpness, at.r.shape, strict=True))
    if metric != "cityblock" or reach > _SAFE or top - float(x.min()) > _SAFE:
        return log_sum(_placed(x, some), at.kernel, at.run)
    scaled = np.empty_like(x)

    def part(start: int, stop: int) -> None:
        np.exp(np.subtract(x[start:stop], top, out=scaled[start:stop]), out=scaled[start:stop])

    def back(start: int, stop: int) -> None:
        here = values[start:stop]
        np.add(np.log(here, out=here), top, out=here)

    at.run(len(x), part)
    values = scaled
    if some is not ...:
        values = np.zeros(at.r.shape)
        values[some] = scaled
    for sharp in reversed(sharpness):
        values = _filtered(at, values, math.exp(-sharp))
    at.run(len(values), back)
    return values


def _filtered(at: Target, values: Array, q: float) -> Array:
    """Sums along the last axis, which comes first then."""
    from sinkdist.kernels.grid.cityblock import recursive_sums

    n = values.shape[-1]
    flat = np.ascontiguousarray(values).reshape(-1, n)
    out = np.empty((n, len(flat)))
    at.run(len(flat), lambda a, b: recursive_sums(flat, q, a, b, out))
    return out.reshape(n, *values.shape[:-1])


def _pixels(mass: Array) -> Any:
    """An index of the pixels with mass; of all of them one that copies nothing."""
    some = mass > 0.0
    return ... if some.all() else some


def _placed(x: Array, some: Any) -> Array:
    """Log scalings on all pixels, -inf where there is no mass."""
    if some is ...:
        return x
    out = np.full(some.shape, -np.inf)
    out[some] = x
    return out
