"""Barycentres of torch, JAX and CuPy arrays: found on the host, put back, and differentiable.

The sweeps are those of NumPy arrays: histograms are fetched once, and barycentres sent back. The
gradients of plain barycentres solve the problem once more (`derivatives`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sinkdist.errors import InputTypeError
from sinkdist.ground import Ground
from sinkdist.inputs.array_context import ArrayContext, context_of, kind_of
from sinkdist.means.barycenters import Found, Request
from sinkdist.means.derivatives import gradients
from sinkdist.means.reading import find_beside_main, read_lam, read_request
from sinkdist.means.result import Barycenter
from sinkdist.problem.options import Options
from sinkdist.solvers.adjoint.frameworks import no_compile
from sinkdist.solvers.adjoint.on_host import HostFunction, call_on_host

__all__ = ["answered"]

Array: TypeAlias = Any  #: an array of the standard
Numbers: TypeAlias = npt.NDArray[Any]
#: From histograms and weights on the host to a checked request.
Read: TypeAlias = Callable[[Numbers, Numbers], Request]

_DEBIASED = (
    "Debiased barycentres have no gradient, because bins vanish in them: pass debiased=False, or "
    "detach what needs none."
)


@no_compile
def answered(
    X: Any, ground: Any, weights: Any, options: Options, need_objective: bool,
    warn: Callable[[Found, Request], None],
) -> Barycenter:  # fmt: skip
    """The barycentres where the arrays live; `warn` is called where numbers can be looked at."""
    learnt = kind_of(weights) is not None
    context = context_of({"X": X, "weights": weights} if learnt else {"X": X}, ground)
    dtype, costs = context.dtype([X], options.dtype), _costs(context, ground)
    options = replace(options, dtype=dtype.name)
    W = weights if learnt else context.put(_plain(weights, int(X.shape[0])))

    def read(X: Numbers, W: Numbers) -> Request:
        return read_request(X, costs, W, options, need_objective)[0]

    known, request = [context.host(x) for x in (X, W)], None
    if not any(x is None for x in known):  # whatever is wrong is said here
        request = read(*map(np.asarray, known))
    found = _found(context, X, W, costs, dtype, read, bool(options.debiased))
    if request is not None:
        names = ("histogram", "error", "self_error", "status", "n_iter", "objective")
        numbers = {name: np.asarray(context.host(x)) for name, x in zip(names, found, strict=True)}
        warn(Found(**numbers, kept={}), request)
    shown = [x[0, ...] if W.ndim == 1 else x for x in found]
    histogram, error, self_error, status, n_iter, objective = shown
    return Barycenter(
        histogram, W, status, error, self_error, objective, n_iter, read_lam(options, costs),
        bool(options.debiased),
    )  # fmt: skip


def _found(
    context: ArrayContext, X: Array, W: Array, costs: Ground, dtype: np.dtype[Any], read: Read,
    debiased: bool,
) -> list[Array]:  # fmt: skip
    """The fields of `Found`, on the device; the barycentres have gradients."""
    m, n, whole = (1 if W.ndim == 1 else int(W.shape[0])), int(X.shape[0]), np.dtype(np.int32)
    shapes = (
        ((m, costs.shape[0]), dtype), ((m, n), dtype), ((m,), dtype), ((m,), whole), ((m,), whole),
        ((m,), dtype),
    )  # fmt: skip
    kinds = [np.dtype(str(x.dtype).rpartition(".")[2]) for x in (X, W)]
    given = partial(_as_given, kinds=kinds)

    def solve(*arrays: Numbers) -> Any:
        found = find_beside_main(read(*given(arrays)))
        return (
            found.histogram, found.error, found.self_error, found.status, found.n_iter,
            found.objective,
        )  # fmt: skip

    def pull(arrays: Any, outputs: Any, by: Any) -> Any:
        request = replace(read(*given(arrays)), keep=True)
        slopes = gradients(request, find_beside_main(request), by[0])
        by_W = slopes.weights.reshape(arrays[1].shape)
        return _of_sums(slopes.histograms, arrays[0]), _of_sums(by_W, arrays[1])

    refusal = InputTypeError(_DEBIASED) if debiased else None
    return call_on_host(context, HostFunction(solve, pull, shapes, 1, refusal), X, W)


def _of_sums(gradient: Numbers, rows: Numbers) -> Numbers:
    """The gradient by rows before they were divided by their sums."""
    return np.asarray(gradient / rows.sum(axis=-1, keepdims=True))


def _as_given(arrays: Any, kinds: list[np.dtype[Any]]) -> list[Numbers]:
    """Numbers in the dtype of the caller, which decides how far off sums may be."""
    return [x.astype(kind) for x, kind in zip(arrays, kinds, strict=True)]


def _plain(weights: Any, n: int) -> Numbers:
    """Weights that came from the host, or equal ones."""
    return np.full(n, 1.0 / n) if weights is None else np.array(weights, np.float64)


def _costs(context: ArrayContext, ground: Any) -> Ground:
    """Costs, which are constants."""
    if kind_of(ground) is None:
        return Ground.of(ground)
    numbers = context.host(ground)
    if numbers is None or context.is_learned(ground):
        raise InputTypeError(
            "Barycentres have no gradient with respect to costs: pass a Ground, or a NumPy matrix."
        )
    return Ground(numbers)
