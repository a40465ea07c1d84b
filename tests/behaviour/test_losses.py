"""Divergence and losses in torch and JAX: values of the NumPy path, gradients of the definition.

Each framework is tested where it is installed; elsewhere its tests are skipped, and say so.
"""

import importlib.util
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import sinkdist as sd
from tests.problems import grid_costs, random_metric, simplex, sparse_histograms

needs_torch = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="torch is not installed"
)
needs_jax = pytest.mark.skipif(
    importlib.util.find_spec("jax") is None, reason="JAX is not installed"
)
M = grid_costs(3, 4)
GROUND = sd.Ground(M)
X, Y = sparse_histograms(6, 12, 0), sparse_histograms(6, 12, 1)
# No mass is tiny: differences of a step of 1e-5 are then good to 1e-7.
FULL, OTHER = (0.5 / 12 + 0.5 * simplex(4, 12, seed) for seed in (2, 3))
TIGHT = {"lam": 3.0, "tol": 1e-11}


def torch_array(values, **options):
    import torch

    return torch.tensor(np.array(values), **options)


def jax_array(values):
    import jax

    jax.config.update("jax_enable_x64", True)
    return jax.numpy.asarray(np.array(values))


FRAMEWORKS = {
    "torch": pytest.param(torch_array, id="torch", marks=needs_torch),
    "jax": pytest.param(jax_array, id="jax", marks=needs_jax),
}
each = pytest.mark.parametrize("array", FRAMEWORKS.values())


def centred(gradient):
    """Along the simplex: what is left when a constant is taken off."""
    gradient = np.asarray(gradient)
    return gradient - gradient.mean(axis=-1, keepdims=True)


def differences(function, rows, step=1e-5):
    """Derivatives along the simplex by central differences, mass moved from bin to bin."""
    out = np.zeros_like(rows)
    d = rows.shape[1]
    for i in range(d):
        move = np.full(d, -1.0 / d)
        move[i] += 1.0
        out[:, i] = (function(rows + step * move) - function(rows - step * move)) / (2 * step)
    return out


# ---------------------------------------------------------------------------------- divergence


@each
@pytest.mark.parametrize("lam", [0.0, 0.2, 3.0, 40.0, np.inf])
def test_divergence_is_that_of_numpy(array, lam):
    wanted = sd.divergence(X, Y, M, lam=lam, tol=1e-11)
    for ground in (GROUND, array(M)):
        got = sd.divergence(array(X), array(Y), ground, lam=lam, tol=1e-11)
        np.testing.assert_allclose(np.asarray(got), wanted, rtol=1e-10, atol=1e-12)
    one = sd.divergence(array(X[0]), array(Y[0]), GROUND, lam=lam, tol=1e-11)
    assert np.shape(one) == () and float(one) == pytest.approx(wanted[0], rel=1e-10)


@each
def test_shapes_and_pairs(array):
    wanted = sd.pairwise(X, Y, ground=M, debiased=True, **TIGHT)
    got = sd.pairwise(array(X), array(Y), ground=GROUND, debiased=True, **TIGHT)
    np.testing.assert_allclose(np.asarray(got), wanted, rtol=1e-9, atol=1e-12)
    one_family = np.asarray(sd.pairwise(array(X), ground=GROUND, debiased=True, **TIGHT))
    assert (one_family == one_family.T).all() and (one_family.diagonal() == 0.0).all()
    row = sd.divergence(array(X[1]), array(Y), GROUND, **TIGHT)
    np.testing.assert_allclose(np.asarray(row), wanted[1], rtol=1e-9)
    column = sd.divergence(array(X), array(Y[1]), GROUND, **TIGHT)
    np.testing.assert_allclose(np.asarray(column), wanted[:, 1], rtol=1e-9)


@each
def test_equal_is_zero_and_nothing_is_negative(array):
    R = simplex(30, 12, 4)
    near = R + 1e-9 * np.eye(30, 12)
    near /= near.sum(axis=1, keepdims=True)
    for dtype in (np.float32, np.float64):
        first, second = array(R.astype(dtype)), array(near.astype(dtype))
        same = np.asarray(sd.divergence(first, array(R.astype(dtype)), GROUND, lam=5.0))
        assert same.dtype == dtype and (same == 0.0).all()
        assert (np.asarray(sd.divergence(first, second, GROUND, lam=5.0)) >= 0.0).all()


@each
def test_single_precision(array):
    got = sd.divergence(array(FULL.astype("f4")), array(OTHER.astype("f4")), GROUND, lam=3.0)
    assert np.asarray(got).dtype == np.float32
    np.testing.assert_allclose(np.asarray(got), sd.divergence(FULL, OTHER, M, lam=3), rtol=1e-5)


@each
def test_costs_of_staying(array):
    """A kernel for which the symmetric fixed point needs many sweeps."""
    ground = np.random.default_rng(5).random((12, 12))
    ground = ground + ground.T
    wanted = sd.divergence(X, Y, ground, lam=8.0, tol=1e-9)
    got = np.asarray(sd.divergence(array(X), array(Y), sd.Ground(ground), lam=8.0, tol=1e-9))
    np.testing.assert_allclose(got, wanted, rtol=1e-7, atol=1e-9)


@each
def test_refused(array):
    with pytest.raises(sd.InputError, match="Got 'alpha'"):
        sd.divergence(array(X), array(Y), GROUND, alpha=0.5)
    with pytest.raises(sd.InputError, match="symmetric ground"):
        sd.divergence(array(X), array(Y), array(np.triu(M)), lam=1.0)
    with pytest.raises(sd.InputError, match="symmetric ground"):
        sd.pairwise(array(X), ground=sd.Ground(np.triu(M)), lam=1.0, debiased=True)
    with pytest.raises(sd.InputError, match=r"pass X\[None\]"):
        sd.pairwise(array(X[0]), ground=GROUND, lam=1.0, debiased=True)


@each
def test_empty_rows(array):
    rows = X.copy()
    rows[2] = 0.0
    got = sd.divergence(array(rows), array(Y), GROUND, lam=3.0, on_empty="nan")
    assert np.isnan(np.asarray(got)).tolist() == [False, False, True, False, False, False]
    D = np.asarray(sd.pairwise(array(rows), ground=GROUND, lam=3.0, debiased=True, on_empty="nan"))
    assert np.isnan(D[2]).all() and np.isnan(D[:, 2]).all() and np.isnan(D).sum() == 11


# ----------------------------------------------------------------------------------- gradients


@needs_torch
@pytest.mark.parametrize("lam", [0.0, 1.0, 4.0])
def test_torch_gradient_is_that_of_differences(lam):
    r, c = torch_array(FULL, requires_grad=True), torch_array(OTHER, requires_grad=True)
    sd.divergence(r, c, GROUND, lam=lam, tol=1e-12).sum().backward()
    by_r = differences(lambda R: sd.divergence(R, OTHER, M, lam=lam, tol=1e-12), FULL)
    by_c = differences(lambda C: sd.divergence(FULL, C, M, lam=lam, tol=1e-12), OTHER)
    np.testing.assert_allclose(centred(r.grad), by_r, atol=1e-6)
    np.testing.assert_allclose(centred(c.grad), by_c, atol=1e-6)


@needs_torch
def test_torch_gradcheck():
    import torch

    def value(r, c, costs):
        costs = (costs + costs.T) / 2 + 0.1
        return sd.divergence(torch.softmax(r, -1), torch.softmax(c, -1), costs, lam=3.0, tol=1e-12)

    inputs = [torch_array(np.log(rows[:2])).requires_grad_() for rows in (FULL, OTHER)]
    assert torch.autograd.gradcheck(value, (*inputs, torch_array(M).requires_grad_()), atol=1e-6)


@needs_jax
def test_jax_gradient_is_that_of_differences():
    import jax

    def value(r, c, costs):
        return sd.divergence(r, c, costs, lam=3.0, tol=1e-12).sum()

    inputs = tuple(map(jax_array, (FULL, OTHER, M)))
    by_r, by_c, by_M = jax.jit(jax.grad(value, argnums=(0, 1, 2)))(*inputs)
    wanted = differences(lambda R: sd.divergence(R, OTHER, M, lam=3, tol=1e-12), FULL)
    np.testing.assert_allclose(centred(by_r), wanted, atol=1e-6)
    wanted = differences(lambda C: sd.divergence(FULL, C, M, lam=3, tol=1e-12), OTHER)
    np.testing.assert_allclose(centred(by_c), wanted, atol=1e-6)
    change = random_metric(12, 8)
    step = 1e-5
    ends = [
        sd.divergence(FULL, OTHER, M + s * step * change, lam=3, tol=1e-12).sum() for s in (2, 1)
    ]
    wanted = (4 * ends[1] - ends[0] - 3 * sd.divergence(FULL, OTHER, M, lam=3, tol=1e-12).sum()) / (
        2 * step
    )
    assert float((by_M * change).sum()) == pytest.approx(wanted, abs=1e-6)


@each
def test_gradients_of_pairwise(array):
    """All pairs have the derivatives of their pairs."""
    if array is torch_array:
        r = torch_array(FULL, requires_grad=True)
        sd.pairwise(r, ground=GROUND, debiased=True, **TIGHT).sum().backward()
        got = r.grad
    else:
        import jax

        total = lambda r: sd.pairwise(r, ground=GROUND, debiased=True, **TIGHT).sum()  # noqa: E731
        got = jax.grad(total)(jax_array(FULL))
    wanted = np.zeros_like(FULL)
    for k, row in enumerate(FULL):
        one = differences(
            lambda R, row=row: sd.divergence(np.repeat(R, 4, 0), FULL, M, **TIGHT).sum(), row[None]
        )
        wanted[k] = 2 * one[0]
    np.testing.assert_allclose(centred(got), wanted, atol=2e-6)


@needs_torch
def test_torch_vmap():
    import torch

    got = torch.func.vmap(lambda r, c: sd.divergence(r, c, GROUND, **TIGHT))(
        torch_array(X), torch_array(Y)
    )
    np.testing.assert_allclose(got.numpy(), sd.divergence(X, Y, M, **TIGHT), rtol=1e-9)


@needs_jax
def test_jax_vmap_and_jit():
    import jax

    one = lambda r, c: sd.divergence(r, c, GROUND, **TIGHT)  # noqa: E731
    got = jax.jit(jax.vmap(one))(jax_array(X), jax_array(Y))
    np.testing.assert_allclose(np.asarray(got), sd.divergence(X, Y, M, **TIGHT), rtol=1e-9)


# ------------------------------------------------------------------------------ torch's module


@needs_torch
def test_module_reduces_the_divergence():
    from sinkdist.torch import SinkhornLoss

    r, c = torch_array(FULL), torch_array(OTHER)
    values = sd.divergence(FULL, OTHER, M, lam=5, tol=1e-9)
    options = {"lam": 5.0, "tol": 1e-9, "dtype": r.dtype}
    for reduction, wanted in (("none", values), ("sum", values.sum()), ("mean", values.mean())):
        got = SinkhornLoss(GROUND, reduction=reduction, **options)(r, c)
        np.testing.assert_allclose(got.numpy(), wanted, rtol=1e-9)
    plain = SinkhornLoss(M, 5.0, False, tol=1e-9, dtype=r.dtype)(r, c)
    assert plain.item() == pytest.approx(sd.distance(FULL, OTHER, M, lam=5, tol=1e-9).mean())
    one = SinkhornLoss(GROUND, reduction="none", **options)(r[0], c[0])
    assert one.shape == () and one.item() == pytest.approx(values[0])


@needs_torch
def test_module_takes_logits_and_bins():
    import torch

    from sinkdist.torch import SinkhornLoss

    scores = torch.tensor(np.random.default_rng(0).normal(size=(3, 12)), requires_grad=True)
    bins = torch.tensor([0, 5, 11])
    loss = SinkhornLoss(GROUND, 5.0, logits=True, dtype=torch.float64)
    value = loss(scores, bins)
    by_hand = sd.divergence(
        torch.softmax(scores, 1).detach().numpy(), np.eye(12)[[0, 5, 11]], M, lam=5
    ).mean()
    assert value.item() == pytest.approx(by_hand, rel=1e-6)
    value.backward()
    np.testing.assert_allclose(scores.grad.sum(1), 0.0, atol=1e-12)
    assert (scores.grad[0, 0] < 0) and loss(scores[0], bins[0]).shape == ()
    for half in (torch.float16, torch.bfloat16):
        low = loss(scores.detach().to(half), bins)
        assert low.dtype == torch.float32 and low.item() == pytest.approx(value.item(), rel=0.05)


@needs_torch
def test_module_is_a_module():
    import io

    import torch

    from sinkdist.torch import SinkhornLoss

    loss = SinkhornLoss(GROUND, 5.0, logits=True)
    assert loss.costs.dtype == torch.float32 and not list(loss.parameters())
    assert list(loss.state_dict()) == ["costs"]
    assert loss.double().costs.dtype == torch.float64
    assert loss.to("meta").costs.device.type == "meta"
    loss = SinkhornLoss(GROUND, 5.0, logits=True)
    again = pickle.loads(pickle.dumps(loss))
    inputs = torch.zeros(2, 12), torch.tensor([1, 2])
    assert again(*inputs).item() == loss(*inputs).item()
    other = SinkhornLoss(2.0 * M, 5.0, logits=True)
    other.load_state_dict(loss.state_dict())
    assert other(*inputs).item() == loss(*inputs).item()
    stream = io.BytesIO()
    torch.save(loss.state_dict(), stream)
    assert repr(loss) == (
        "SinkhornLoss(12 x 12, lam=5, debiased=True, logits=True, reduction='mean')"
    )


@needs_torch
def test_module_trains():
    """Descent on logits finds the target; the distance without debiasing finds a sharper one."""
    import torch

    from sinkdist.torch import SinkhornLoss

    target = torch_array(FULL[:1])
    found = {}
    for debiased in (True, False):
        loss = SinkhornLoss(GROUND, 1.0, debiased, logits=True, dtype=torch.float64)
        scores = torch.zeros(1, 12, dtype=torch.float64, requires_grad=True)
        optimiser = torch.optim.Adam([scores], lr=0.1)
        for _ in range(300):
            optimiser.zero_grad()
            value = loss(scores, target)
            value.backward()
            optimiser.step()
        found[debiased] = torch.softmax(scores, 1).detach().numpy(), value.item()
    assert found[True][1] < 1e-6
    np.testing.assert_allclose(found[True][0], FULL[:1], atol=1e-3)
    sharp = found[False][0]
    assert np.abs(sharp - FULL[:1]).max() > 0.05
    assert -(sharp * np.log(sharp)).sum() < -(FULL[0] * np.log(FULL[0])).sum() - 0.1


@needs_torch
def test_module_refuses():
    import torch

    from sinkdist.torch import SinkhornLoss

    with pytest.raises(sd.InputError, match="'reduction' option must be"):
        SinkhornLoss(GROUND, reduction="median")
    with pytest.raises(sd.InputError, match="costs must be non-negative"):
        SinkhornLoss(-M)
    loss = SinkhornLoss(GROUND)
    with pytest.raises(sd.InputError, match=r"shape \(2, 12\). Got \(2, 12\) and \(3, 12\)"):
        loss(torch.ones(2, 12) / 12, torch.ones(3, 12) / 12)
    with pytest.raises(sd.InputError, match=r"shape \(2,\)"):
        SinkhornLoss(GROUND, logits=True)(torch.zeros(2, 12), torch.tensor(3)[None][:, None][0])
    with pytest.raises(sd.InputError, match="sums to"):
        loss(torch.ones(2, 12), torch.ones(2, 12) / 12)


# -------------------------------------------------------------------------------- JAX's function


@needs_jax
def test_function_is_the_divergence():
    import jax

    from sinkdist.jax import sinkhorn_loss

    r, c = jax_array(FULL), jax_array(OTHER)
    values = sd.divergence(FULL, OTHER, M, lam=5, tol=1e-9)
    for reduction, wanted in (("none", values), ("sum", values.sum()), ("mean", values.mean())):
        loss = jax.jit(
            lambda r, c, reduction=reduction: sinkhorn_loss(
                r, c, GROUND, 5.0, reduction=reduction, tol=1e-9
            )
        )
        np.testing.assert_allclose(np.asarray(loss(r, c)), wanted, rtol=1e-9)
    plain = sinkhorn_loss(r, c, GROUND, 5.0, False, tol=1e-9)
    assert float(plain) == pytest.approx(sd.distance(FULL, OTHER, M, lam=5, tol=1e-9).mean())
    mapped = jax.vmap(lambda r, c: sinkhorn_loss(r, c, GROUND, 5.0, tol=1e-9))(r, c)
    np.testing.assert_allclose(np.asarray(mapped), values, rtol=1e-9)


@needs_jax
def test_function_takes_logits_and_bins():
    import jax

    from sinkdist.jax import sinkhorn_loss

    scores, bins = jax_array(np.random.default_rng(0).normal(size=(3, 12))), jax_array([0, 5, 11])
    loss = lambda s: sinkhorn_loss(s, bins, GROUND, 5.0, logits=True)  # noqa: E731
    value, gradient = jax.jit(jax.value_and_grad(loss))(scores)
    by_hand = sd.divergence(
        np.asarray(jax.nn.softmax(scores)), np.eye(12)[[0, 5, 11]], M, lam=5
    ).mean()
    assert float(value) == pytest.approx(by_hand, rel=1e-6)
    np.testing.assert_allclose(np.asarray(gradient).sum(1), 0.0, atol=1e-12)
    assert np.asarray(gradient)[0, 0] < 0
    low = loss(scores.astype(jax.numpy.bfloat16))
    assert low.dtype == jax.numpy.float32 and float(low) == pytest.approx(float(value), rel=0.05)


@needs_jax
def test_function_refuses():
    from sinkdist.jax import sinkhorn_loss

    with pytest.raises(sd.InputError, match="'reduction' option must be"):
        sinkhorn_loss(jax_array(FULL), jax_array(OTHER), GROUND, reduction="median")
    with pytest.raises(sd.InputError, match=r"Got \(4, 12\) and \(3, 12\)"):
        sinkhorn_loss(jax_array(FULL), jax_array(OTHER[:3]), GROUND)


# ---------------------------------------------------------------------------------- the page


@needs_torch
@needs_jax
def test_the_page_on_gradients_is_true():
    """Its blocks run one after another, and what stands behind an arrow is what comes out."""
    page = Path(__file__).parents[2] / "docs" / "gradients.md"
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    names, shown = {}, 0
    for block in blocks:
        for line in block.splitlines():
            source, arrow, wanted = line.partition("  # -> ")
            if arrow:
                assert repr(eval(source, names)) == wanted, line
                shown += 1
            else:
                exec(source, names)
    assert shown >= 10


# ------------------------------------------------------------------------------ missing extras


@pytest.mark.parametrize("name", ["torch", "jax"])
def test_a_missing_framework_is_named(name):
    code = (
        f"import sys; sys.modules[{name!r}] = None\n"
        f"try:\n    import sinkdist.{name}\nexcept ImportError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    sentence = f'{name} is not installed: run pip install "sinkdist[{name}]" '
    assert done.stdout.strip().startswith(sentence)


# ------------------------------------------------------------- targets as people have them


def losses(array, prediction, target, **options):
    """The loss of either framework."""
    if array is torch_array:
        from sinkdist.torch import SinkhornLoss

        keep = {"dtype": prediction.dtype}
        return SinkhornLoss(GROUND, lam=3.0, logits=True, **options, **keep)(prediction, target)
    from sinkdist.jax import sinkhorn_loss

    return sinkhorn_loss(prediction, target, GROUND, lam=3.0, logits=True, **options)


LOGITS = np.random.default_rng(0).standard_normal((6, 12))


@each
@pytest.mark.parametrize("wrong", [12, -1])
def test_labels_out_of_range_are_one_sentence(array, wrong):
    labels = array(np.array([0, 3, wrong, 2, 1, 0]))
    with pytest.raises(sd.InputError, match=f"bins from 0 to 11, or .* Got {wrong} instead"):
        losses(array, array(LOGITS), labels)


@each
def test_ignored_labels_count_for_nothing(array):
    labels = np.array([0, -100, 5, 11, -100, 2])
    kept = labels >= 0
    alone = np.asarray(losses(array, array(LOGITS[kept]), array(labels[kept]), reduction="none"))
    each_one = np.asarray(losses(array, array(LOGITS), array(labels), reduction="none"))
    np.testing.assert_allclose(each_one[kept], alone, rtol=1e-9)
    assert (each_one[~kept] == 0.0).all()
    mean = float(losses(array, array(LOGITS), array(labels)))
    assert mean == pytest.approx(alone.mean(), rel=1e-9)
    total = float(losses(array, array(LOGITS), array(labels), reduction="sum"))
    assert total == pytest.approx(alone.sum(), rel=1e-9)
    other = np.where(kept, labels, 7)
    np.testing.assert_allclose(
        float(losses(array, array(LOGITS), array(other), ignore_index=7)), mean, rtol=1e-9
    )
    nothing = losses(array, array(LOGITS), array(np.full(6, -100)))
    assert float(nothing) == 0.0


@needs_torch
def test_ignored_labels_have_no_gradient():
    logits = torch_array(LOGITS, requires_grad=True)
    losses(torch_array, logits, torch_array(np.array([0, -100, 5, 11, -100, 2]))).backward()
    gradient = logits.grad.numpy()
    assert (gradient[[1, 4]] == 0.0).all() and (gradient[[0, 2, 3, 5]] != 0.0).any(axis=1).all()


@each
def test_leading_dimensions(array):
    labels = np.array([0, 3, 5, 11, 1, 2])
    flat = np.asarray(losses(array, array(LOGITS), array(labels), reduction="none"))
    folded = array(LOGITS.reshape(2, 3, 12)), array(labels.reshape(2, 3))
    deep = np.asarray(losses(array, *folded, reduction="none"))
    np.testing.assert_allclose(deep, flat.reshape(2, 3), rtol=1e-9)
    assert float(losses(array, *folded)) == pytest.approx(flat.mean(), rel=1e-9)
    wanted = array(np.eye(12)[labels].reshape(2, 3, 12))
    soft = np.asarray(losses(array, folded[0], wanted, reduction="none"))
    np.testing.assert_allclose(soft, deep, rtol=1e-9)


@each
def test_strength_of_losses_relative_to_the_median(array):
    prediction, target = array(FULL), array(OTHER)
    wanted = float(sd.divergence(FULL, OTHER, M, lam=9 / GROUND.median).mean())
    if array is torch_array:
        from sinkdist.torch import SinkhornLoss

        got = SinkhornLoss(GROUND, lam="9/median", dtype=prediction.dtype)(prediction, target)
        with pytest.warns(sd.ScaleWarning, match="scaled"):
            SinkhornLoss(sd.Ground.grid(28, 28))
    else:
        from sinkdist.jax import sinkhorn_loss

        got = sinkhorn_loss(prediction, target, GROUND, lam="9/median")
    assert float(got) == pytest.approx(wanted, rel=1e-5)
    for ground in (GROUND, array(M)):
        near = sd.distance(prediction, target, ground, lam="9/median")
        np.testing.assert_allclose(
            np.asarray(near), sd.distance(FULL, OTHER, M, lam="9/median"), rtol=1e-5
        )
