"""`sinkhorn_loss`: the divergence, or the distance, as a loss of JAX.

The same as `sinkdist.torch.SinkhornLoss`, as a pure function: `jit`, `grad` and `vmap` apply to it.
"""

from __future__ import annotations

from typing import Any

from sinkdist.api.divergence import divergence
from sinkdist.api.pairs import distance
from sinkdist.errors import MissingExtraError
from sinkdist.inputs.flags import flag
from sinkdist.losses import IGNORED, check_bins, check_reduction, check_shapes

try:
    import jax
    import jax.numpy as jnp
except ImportError as error:
    raise MissingExtraError("jax", "jax") from error

__all__ = ["sinkhorn_loss"]


def sinkhorn_loss(
    prediction: jax.Array,
    target: jax.Array,
    ground: Any,
    lam: float | str = 9.0,
    debiased: bool = True,
    *,
    logits: bool = False,
    reduction: str = "mean",
    ignore_index: int = IGNORED,
    tol: float | None = None,
    max_iter: int | None = None,
) -> jax.Array:
    """Sinkhorn divergence between predicted and wanted histograms.

    Parameters
    ----------
    prediction : array, shape (d,), (n, d) or (..., d)
        Histograms, or logits.
    target : array
        Histograms of the same shape, or one bin for each: integers of shape (), (n,) or (...).
        Under `jit`, targets that are no bins have the loss NaN.
    ground : Ground or array, shape (d, d)
        Costs between bins, symmetric if `debiased`. A `Ground` is a constant that `jit` closes
        over; an array can be traced and differentiated.
    lam : float or str
        The strength of the entropy, for costs of median 1: see ``Ground.scaled``. ``"9/median"`` is
        9 divided by the median cost.
    debiased : bool
        The divergence, which is 0 where prediction and target agree; otherwise the distance
        ``<P, M>``, whose minimum lies at a sharper prediction than the target.
    logits : bool
        Whether predictions are logits: a softmax makes histograms of them.
    reduction : {"mean", "sum", "none"}
        What becomes of the numbers of a batch.
    ignore_index : int
        Bins as targets that are this number count for nothing: their loss is 0, and "mean" is over
        the others.
    tol, max_iter
        As for `sinkdist.solve`.

    Returns
    -------
    array, 0-d unless ``reduction="none"``

    Examples
    --------
    >>> import jax
    >>> import jax.numpy as jnp
    >>> import sinkdist as sd
    >>> ground = sd.Ground.grid(5)
    >>> def loss(logits):
    ...     return sinkhorn_loss(logits, jnp.array([0, 4]), ground, lam=3.0, logits=True)
    >>> value, gradient = jax.jit(jax.value_and_grad(loss))(jnp.zeros((2, 5)))
    >>> round(float(value), 3), [round(float(x), 2) + 0.0 for x in gradient[0]]
    (1.745, [-0.2, -0.1, 0.0, 0.1, 0.2])
    """
    check_reduction(reduction)
    debiased, logits = flag("debiased", debiased), flag("logits", logits)
    prediction, target = jnp.asarray(prediction), jnp.asarray(target)
    classes = jnp.issubdtype(target.dtype, jnp.integer) and target.ndim == prediction.ndim - 1
    check_shapes(prediction, target, classes)
    if not jnp.issubdtype(prediction.dtype, jnp.floating) or prediction.dtype.itemsize < 4:
        prediction = prediction.astype(jnp.float32)
    if logits:
        prediction = jax.nn.softmax(prediction, axis=-1)
    ignored = None
    if classes:
        ignored = target == ignore_index
        target = jnp.where(ignored, 0, target)
        if target.size and not isinstance(target, jax.core.Tracer):
            check_bins(int(target.min()), int(target.max()), prediction.shape[-1])
        target = jax.nn.one_hot(target, prediction.shape[-1], dtype=prediction.dtype)
    verb, leading = divergence if debiased else distance, prediction.shape[:-1]
    if len(leading) > 1:
        prediction, target = (x.reshape(-1, x.shape[-1]) for x in (prediction, target))
    values: jax.Array = verb(
        prediction, target.astype(prediction.dtype), ground, lam=lam, tol=tol, max_iter=max_iter
    )
    values = jnp.reshape(values, leading)
    counted: Any = values.size
    if ignored is not None:
        values = jnp.where(ignored, 0.0, values)
        counted = jnp.maximum(jnp.sum(~ignored), 1)
    if reduction == "none":
        return values
    return values.sum() / counted if reduction == "mean" else values.sum()
