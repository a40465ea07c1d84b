"""An approximate inverse of Newton's matrix on a grid.

Newton's matrix is ``diag(c) (1 - T)`` with ``T`` the mean of a mean: from columns to rows and back.
Between smooth images ``T`` is nearly a heat kernel, whose eigenvectors are cosines, with the
eigenvalues ``exp(-s |k|^2)`` for frequencies ``k``. Then
``(1 - T)^-1 = 1 + 1 / (exp(s |k|^2) - 1)``; the first term is kept exact for every pixel, the
second is smooth and weighted by a smoothed density. It only decides how fast conjugate gradients
are, so single precision is enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Cosines", "Preconditioner"]

Array = npt.NDArray[Any]

_SMOOTHING = 32.0  #: of the density, in variances of the kernel
_FLOOR = 1e-4  #: of the smoothed density, times its mean
_FLAT = 60.0  #: an exponent whose inverse exponential adds nothing


@dataclass(frozen=True, slots=True, eq=False)
class Cosines:
    """What all steps on one grid at one lam share.

    Attributes
    ----------
    gain : ndarray
        ``1 / (exp(s |k|^2) - 1)`` for every frequency, 0 for the constant.
    smoothing : ndarray
        The heat kernel that smooths densities.
    """

    gain: Array
    smoothing: Array

    @classmethod
    def of(cls, shape: tuple[int, ...], sharpness: tuple[float, ...]) -> Cosines:
        """For a grid, and ``lam`` times the cost of a step along every axis."""
        exponent = np.zeros(shape)
        for axis, (n, sharp) in enumerate(zip(shape, sharpness, strict=True)):
            k = np.pi * np.arange(n) / n
            around = [n if a == axis else 1 for a in range(len(shape))]
            exponent += (k * k / (2.0 * sharp)).reshape(around)
        gain = np.zeros(shape)
        some = (exponent > 0.0) & (exponent < _FLAT)
        gain[some] = 1.0 / np.expm1(exponent[some])
        smoothing = np.exp(-np.minimum(_SMOOTHING * exponent, _FLAT))
        return cls(gain.astype(np.float32), smoothing.astype(np.float32))

    def smoothed(self, density: Array) -> Array:
        """A density without its details, positive everywhere."""
        found = _by_cosines(density.astype(np.float32), self.smoothing)
        return np.maximum(found, _FLOOR * max(float(found.mean()), 1e-30))


@dataclass(frozen=True, slots=True, eq=False)
class Preconditioner:
    """The approximate inverse at one state."""

    cosines: Cosines
    inverse: Array  #: 1 / c, 0 where there is no mass
    weight: Array  #: the inverse root of the smoothed density, 0 where there is no mass

    @classmethod
    def of(cls, cosines: Cosines, c: Array, density: Array) -> Preconditioner:
        """For the masses of the columns, and a density that is like them on both sides."""
        some = c > 0.0
        inverse = np.divide(1.0, c, out=np.zeros_like(c), where=some)
        weight = np.where(some, 1.0 / np.sqrt(cosines.smoothed(density)), 0.0)
        return cls(cosines, inverse, weight.astype(np.float32))

    def __call__(self, x: Array) -> Array:
        """Applied to a residual."""
        top = float(np.abs(x).max())
        if top == 0.0:
            return np.zeros_like(x)
        scaled = (x * (1.0 / top)).astype(np.float32)
        smooth = _by_cosines(scaled * self.weight, self.cosines.gain) * self.weight
        return np.asarray(x * self.inverse + top * smooth)


def _by_cosines(x: Array, factors: Array) -> Array:
    """Multiply the cosine transform by factors."""
    from scipy.fft import dctn, idctn

    image = dctn(x, norm="ortho", overwrite_x=True)
    image *= factors
    return np.asarray(idctn(image, norm="ortho", overwrite_x=True))
