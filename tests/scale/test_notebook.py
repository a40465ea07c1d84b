"""A `StoredMatrix` in a notebook: what it holds and how much is there, without reading a chunk."""

import numpy as np
import pytest

import sinkdist as sd

pytest.importorskip("zarr")


def test_what_was_asked_and_how_much_is_there(tmp_path, monkeypatch):
    X = np.random.default_rng(0).dirichlet(np.ones(4), size=5)
    D = sd.pairwise(X, ground=sd.Ground.grid(4), lam=7, out=tmp_path / "D<1>.zarr")
    monkeypatch.setattr(type(D._store), "read", lambda *a: pytest.fail("a chunk was read"))
    html = D._repr_html_()
    assert "D&lt;1&gt;.zarr" in html and "D<1>" not in html
    for name, value in {"shape": "5 x 5, float64", "computed": "complete", "lam": "7.0"}.items():
        assert f'<th scope="row">{name}</th><td>{value}</td>' in html


def test_missing_blocks_are_counted(tmp_path):
    X = np.random.default_rng(0).dirichlet(np.ones(4), size=5)

    def stop(progress):
        raise KeyboardInterrupt

    out = tmp_path / "D.zarr"
    with pytest.raises(KeyboardInterrupt):
        sd.pairwise(X, ground=sd.Ground.grid(4), lam=7, out=out, progress=stop)
    D = sd.open_matrix(out)
    tiles, missing = len(D._store.tiling), len(D.missing)
    words = "complete" if not missing else f"{tiles - missing:,} of {tiles:,} blocks"
    assert words in D._repr_html_()
