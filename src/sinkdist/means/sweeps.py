r"""The iteration: one sweep over all pairs of barycentres and histograms.

Plan k is ``P_k = diag(u_k) K diag(v_k)``: its columns are to sum to histogram ``b_k``, its rows to
the barycentre ``a``, the same for all k. Setting the derivatives of the Lagrangian of
``sum_k w_k OT(a, b_k)`` to zero adds ``prod_k u_k^{w_k} = 1`` (Benamou, Carlier, Cuturi, Nenna and
Peyré 2015). Debiased, with ``- OT(a, a) / 2`` in the sum, it is ``prod_k u_k^{w_k} = z``, where
``z`` is the scaling of ``a`` transported to itself: ``a = z * (K z)`` (Janati, Cuturi and Gramfort
2020). A plain sweep solves these conditions in turn::

    v_k = b_k / (K^T u_k)            columns are exact
    a = z * prod_k (K v_k)^{w_k}     the only a that allows the product of the u_k to be z
    u_k = a / (K v_k)                rows are exact, and all the same
    z = sqrt(z * a / (K z))          half a step towards z * (K z) = a; 1 where not debiased

After it, rows are exact and what is left is the error of the columns, which the next sweep computes
anyway. A relaxed sweep moves ``log v_k`` and the differences of the ``log u_k`` from their mean
``omega`` times as far. The mean is tied to ``z``, which must then move less: by ``2 - omega`` at
most, or the two swing up.

Everything is kept as logarithms, so that nothing overflows; one product with the kernel serves all
pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sinkdist.interrupts import Stop
from sinkdist.kernels.log_scalings import column_errors, move_columns, move_rows
from sinkdist.kernels.log_sums import NONE
from sinkdist.means.pairing import Pairing
from sinkdist.means.smoothing import Smoothing
from sinkdist.scale.crew import Crew

__all__ = ["Sweeps"]

Array: TypeAlias = npt.NDArray[Any]

_CHUNK = 1 << 18  #: entries of the pairs that a thread takes at a time: work space within the cache
_LEAST = 16  #: pairs of a chunk, where fewer would do for the cache
_SMALL = 1 << 22  #: multiplications in a product that are not worth a thread
_HALF = 0.5  #: how far z moves in a plain sweep
_MOST_MOMENTUM = 0.95  #: of the last step of z that is taken again
_PATIENT = 5.0  #: steps in about the same direction before any


class Sweeps:
    """The state of all pairs, and how it moves.

    Parameters
    ----------
    smoothing : Smoothing
        Products with the kernel.
    B : ndarray, shape (n, d')
        Histograms.
    pairs : Pairing
        Barycentres and their histograms.
    debiased : bool
        Whether ``z`` moves.
    bins : int
        Of the barycentres.
    crew, stop
        Threads, and when to give up.
    start : tuple of ndarray, optional
        ``log_u`` and ``log_z`` to begin with; a plain sweep reads nothing else. Zeros by default.

    Attributes
    ----------
    log_u, log_v, log_z : ndarray
        Logarithms of the scalings: (p, d), (p, d') and (m, d).
    column_log : ndarray, shape (p, d')
        ``log(K^T u)`` after `columns`.
    log_a : ndarray, shape (m, d)
        The barycentres.
    has_momentum : bool
        Whether ``z`` may take some of its last step again.
    self_error : ndarray, shape (m,)
        L1 error of ``a`` transported to itself by ``z``.
    """

    def __init__(
        self, smoothing: Smoothing, B: Array, bins: int, pairs: Pairing, *,
        debiased: bool, crew: Crew, stop: Stop, start: tuple[Array, Array] | None = None,
    ) -> None:  # fmt: skip
        self.smoothing, self.pairs, self.debiased = smoothing, pairs, debiased
        self._crew, self._stop = crew, stop
        dtype = smoothing.dtype
        self.B = np.asarray(B, dtype)
        with np.errstate(divide="ignore"):
            self._log_B = np.maximum(np.log(self.B), NONE)
        self._bins, self.has_momentum = bins, True
        self.restart()
        if start is not None:
            self.log_u[:], self.log_z[:] = start

    def restart(self) -> None:
        """The beginning: all scalings are 1."""
        dtype, m = self.smoothing.dtype, self.pairs.count
        rows, columns = (self.pairs.size, self._bins), (self.pairs.size, self.B.shape[1])
        self.log_u, self.log_v = np.zeros(rows, dtype), np.zeros(columns, dtype)
        self._row_log, self.column_log = np.zeros(rows, dtype), np.zeros(columns, dtype)
        self.log_z = np.zeros((m, self._bins), dtype)
        self._mean = np.zeros((m, self._bins), dtype)
        self.log_a = np.full((m, self._bins), -np.log(self._bins), dtype)
        self._z_of_u = self._old_z = np.zeros((m, self._bins), dtype)  # what log_u was made with
        self._stepped, self._age = np.zeros((m, self._bins), dtype), np.zeros(m)
        self.self_error = np.zeros(m)
        self._omega: Array | None = None

    @property
    def a(self) -> Array:
        """The barycentres."""
        return np.exp(self.log_a)

    def columns(self) -> Array:
        """Errors of the columns, one for each pair; rows are exact after a plain sweep."""
        error = np.empty(self.pairs.size)

        def work(rows: slice) -> None:
            if self._omega is not None:
                move_rows(
                    self.log_u[rows],
                    self._row_log[rows],
                    self._mean,
                    self._old_z,
                    self._z_of_u,
                    self.pairs.barycenter[rows],
                    self._omega,
                )
            histogram = self.pairs.histogram[rows]
            self.column_log[rows] = self.smoothing.backward(self.log_u[rows], self.B[histogram])
            column_errors(self.column_log[rows], self.log_v[rows], self.B, histogram, error[rows])

        self._run(work)
        self._omega = None
        return error

    def sweep(self, omega: Array) -> None:
        """One sweep, relaxed by a factor for each barycentre; `columns` completes it."""
        means = np.zeros_like(self.log_a)
        parts: list[tuple[slice, Array]] = []

        def work(rows: slice) -> None:
            move_columns(
                self.log_v[rows],
                self.column_log[rows],
                self.B,
                self._log_B,
                self.pairs.histogram[rows],
                omega[self.pairs.barycenter[rows]],
            )
            logs = self.smoothing.forward(self.log_v[rows])
            self._row_log[rows] = logs
            parts.append((rows, self.pairs.weighted_sums(rows, logs)))

        self._run(work)
        for rows, part in sorted(parts, key=lambda x: x[0].start):  # threads end in any order
            first = self.pairs.barycenter[rows.start]
            means[first : first + len(part)] += part
        with np.errstate(all="ignore"):
            self._mean = means.astype(self.log_z.dtype)
            self._update_a(omega)
        self._omega = omega

    def take(self, keep: npt.NDArray[np.bool_]) -> None:
        """Go on with some barycentres only; directly after `columns`."""
        self.pairs, rows = self.pairs.chosen(keep)
        for name in ("log_u", "log_v", "column_log", "_row_log"):
            setattr(self, name, getattr(self, name)[rows])
        for name in ("log_z", "log_a", "_z_of_u", "_mean", "_stepped", "_age", "self_error"):
            setattr(self, name, getattr(self, name)[keep])

    def _update_a(self, omega: Array) -> None:
        """The barycentres, of mass 1, and the error and step of ``z``."""
        log_a = self.log_z + self._mean
        total = np.log(np.exp(log_a - log_a.max(axis=1, keepdims=True)).sum(axis=1))
        shift = (total + log_a.max(axis=1))[:, None].astype(log_a.dtype)
        self.log_a = log_a - shift
        self._old_z, self._z_of_u = self._z_of_u, self.log_z - shift
        if self.debiased:
            to_itself = self.log_z + self.smoothing.own(self.log_z)
            plan = np.exp(to_itself - to_itself.max(axis=1, keepdims=True))
            plan /= plan.sum(axis=1, keepdims=True)
            self.self_error = np.abs(plan - self.a).sum(axis=1)
            self._move_z(np.minimum(_HALF, 2.0 - omega), self.log_a - to_itself)

    def _move_z(self, step: Array, change: Array) -> None:
        """A step of ``z``, and some of the last one again (Nesterov's momentum).

        Details finer than the kernel's width show in no product, and plain steps find them very
        slowly. The momentum ends where it points away from the step, and begins anew.
        """
        stepped = self.log_z + step[:, None].astype(change.dtype) * change
        last = stepped - self._stepped
        ahead = np.einsum("mi,mi,mi->m", self.a, change, last, dtype=np.float64) > 0.0
        self._age = np.where(ahead, self._age + 1.0, 0.0)
        share = np.minimum(self._age / (self._age + 3.0), _MOST_MOMENTUM)
        share[(self._age < _PATIENT) | (not self.has_momentum)] = 0.0
        self._stepped = stepped
        self.log_z = stepped + share[:, None].astype(change.dtype) * last

    def _run(self, work: Callable[[slice], None]) -> None:
        """Call a function on chunks of pairs, on threads where there is more than one chunk."""
        p, (bins, columns) = self.pairs.size, (self._bins, self.B.shape[1])
        shares = 1 if p * bins * columns < _SMALL else min(self._crew.size, p)
        most = max(_LEAST, _CHUNK // max(bins, columns))
        count = shares * -(-p // (shares * most))
        ends = np.linspace(0, p, count + 1).astype(int).tolist()

        def quietly(rows: slice) -> None:
            self._stop.check()
            with np.errstate(all="ignore"):  # what is not finite is found by its error
                work(rows)

        chunks = [slice(k, j) for k, j in pairwise(ends) if k < j]
        self._crew.run(quietly, chunks)
