"""`SinkhornLoss`: the divergence, or the distance, as a loss of torch.

A thin module around the verbs: it keeps the costs as a buffer, takes logits, and reduces.
"""

from __future__ import annotations

from typing import Any

from sinkdist.api.divergence import divergence
from sinkdist.api.pairs import distance
from sinkdist.errors import MissingExtraError
from sinkdist.ground import Ground
from sinkdist.inputs.flags import flag
from sinkdist.losses import IGNORED, check_bins, check_reduction, check_shapes
from sinkdist.problem.scale_check import check_scale
from sinkdist.problem.strength import relative_lam

try:
    import torch
except ImportError as error:
    raise MissingExtraError("torch", "torch") from error

__all__ = ["SinkhornLoss"]


class SinkhornLoss(torch.nn.Module):
    """Sinkhorn divergence between predicted and wanted histograms.

    Parameters
    ----------
    ground : Ground, tensor or array_like, shape (d, d)
        Costs between bins, symmetric if `debiased`. They are a buffer: they move with ``.to(...)``
        and are part of the ``state_dict``. A grid that is too large for a matrix, under squared
        Euclidean or cityblock distances, is kept as it is; the buffer is then None.
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
    dtype : torch.dtype, optional
        That of the buffer; torch's default, unless `ground` is a tensor.

    Examples
    --------
    >>> import torch
    >>> import sinkdist as sd
    >>> loss = SinkhornLoss(sd.Ground.grid(5), lam=3.0, logits=True)
    >>> logits = torch.zeros(2, 5, requires_grad=True)
    >>> value = loss(logits, torch.tensor([0, 4]))
    >>> value.backward()
    >>> round(value.item(), 3), [round(x, 2) + 0.0 for x in logits.grad[0].tolist()]
    (1.745, [-0.2, -0.1, 0.0, 0.1, 0.2])
    """

    costs: torch.Tensor | None

    def __init__(
        self,
        ground: Any,
        lam: float | str = 9.0,
        debiased: bool = True,
        *,
        logits: bool = False,
        reduction: str = "mean",
        ignore_index: int = IGNORED,
        tol: float | None = None,
        max_iter: int | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        check_reduction(reduction)
        costs, matrix = _costs(ground, dtype)
        self.grid = costs if matrix is None else None
        self.lam = float(relative_lam(lam, lambda: costs.median))
        check_scale(self.lam, lam, costs)
        self.ignore_index = ignore_index
        self.debiased, self.logits = flag("debiased", debiased), flag("logits", logits)
        self.reduction, self.tol, self.max_iter = reduction, tol, max_iter
        self.register_buffer("costs", matrix)

    def forward(self, prediction: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        """The loss of a batch.

        Parameters
        ----------
        prediction : tensor, shape (d,), (n, d) or (..., d)
            Histograms, or logits.
        target : tensor
            Histograms of the same shape, or one bin for each: integers of shape (), (n,) or (...).
        """
        classes = not (target.is_floating_point() or target.is_complex())
        classes = classes and target.ndim == prediction.ndim - 1
        check_shapes(prediction, target, classes)
        half = prediction.dtype in (torch.float16, torch.bfloat16)
        if self.logits:
            prediction = torch.softmax(prediction, -1, dtype=torch.float32 if half else None)
        elif half:
            prediction = prediction.float()
        ignored = target == self.ignore_index if classes else None
        if ignored is not None:
            target = torch.where(ignored, 0, target)
            _check_bins(target, prediction.shape[-1])
            bins = torch.nn.functional.one_hot(target.long(), prediction.shape[-1])
            target = bins.to(prediction.dtype)
        verb = divergence if self.debiased else distance
        leading = prediction.shape[:-1]
        if len(leading) > 1:
            prediction, target = (x.reshape(-1, x.shape[-1]) for x in (prediction, target))
        values: torch.Tensor = verb(
            prediction, target.to(prediction.dtype), self._ground, lam=self.lam, tol=self.tol,
            max_iter=self.max_iter,
        )  # fmt: skip
        return self._reduced(values.reshape(leading), ignored)

    @property
    def _ground(self) -> Any:
        """The buffer; or the grid that has none."""
        return self.grid if self.costs is None else self.costs

    def _reduced(self, values: torch.Tensor, ignored: torch.Tensor | None) -> torch.Tensor:
        """The losses of a batch as the reduction wants them."""
        counted: int | torch.Tensor = values.numel()
        if ignored is not None:
            values = torch.where(ignored, 0, values)
            counted = torch.clamp((~ignored).sum(), min=1)
        if self.reduction == "none":
            return values
        total = values.sum()
        return total / counted if self.reduction == "mean" else total

    def extra_repr(self) -> str:
        """What stands between the brackets when it is printed."""
        rows, columns = self._ground.shape
        return (
            f"{rows} x {columns}, lam={self.lam:g}, debiased={self.debiased}, "
            f"logits={self.logits}, reduction={self.reduction!r}"
        )


def _check_bins(target: torch.Tensor, bins: int) -> None:
    """Raise for targets that are no bins, where their numbers can be looked at."""
    if target.numel() and not torch.compiler.is_compiling():
        check_bins(int(target.min()), int(target.max()), bins)


def _costs(ground: Any, dtype: torch.dtype | None) -> tuple[Ground, torch.Tensor | None]:
    """Costs, checked, and as a tensor; mirrored entries that differ by rounding are made equal.

    None for a grid that is too large for a matrix and needs none.
    """
    if isinstance(ground, torch.Tensor):
        checked = Ground(ground.detach().cpu().double().numpy())
        kept = ground.detach().clone()
        return checked, kept if dtype is None else kept.to(dtype)
    checked = Ground.of(ground)
    grid = checked.as_grid
    if grid is not None and grid.is_separable and not grid.has_matrix:
        return checked, None
    matrix = torch.tensor(checked.matrix)
    if checked.is_symmetric:
        matrix = (matrix + matrix.T) / 2
    return checked, matrix.to(dtype or torch.get_default_dtype())
