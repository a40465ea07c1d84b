"""Pictures as histograms: what is read of them, what is refused, and the command line."""

import numpy as np
import pytest

import sinkdist as sd
from sinkdist.errors import InputError
from sinkdist.files import read

Image = pytest.importorskip("PIL.Image")

GREY = np.arange(20, dtype=np.uint8).reshape(4, 5) * 12


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to work in, so that messages show bare names."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", ["a.png", "a.tif", "a.TIFF"])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_grey_values(folder, name, dtype):
    values = GREY.astype(dtype) * (1 if dtype == np.uint8 else 200)
    Image.fromarray(values).save(name)
    np.testing.assert_array_equal(read(name), values)


def test_other_kinds_of_grey(folder):
    Image.fromarray(np.stack([GREY] * 3, -1)).save("rgb.png")
    Image.fromarray(np.stack([GREY] * 3 + [np.full_like(GREY, 255)], -1)).save("rgba.png")
    Image.fromarray(GREY).convert("P").save("palette.png")
    for name in ("rgb.png", "rgba.png", "palette.png"):
        np.testing.assert_array_equal(read(name), GREY)
    Image.fromarray(GREY > 100).save("bits.png")
    np.testing.assert_array_equal(read("bits.png"), GREY > 100)
    floats = GREY.astype(np.float32) / 7
    Image.fromarray(floats).save("floats.tif")
    np.testing.assert_array_equal(read("floats.tif"), floats)


def test_pages(folder):
    pages = [Image.fromarray(GREY + k) for k in range(3)]
    pages[0].save("a.tif", save_all=True, append_images=pages[1:])
    np.testing.assert_array_equal(read("a.tif"), [GREY + k for k in range(3)])
    pages[0].save("b.tif", save_all=True, append_images=[Image.fromarray(GREY[1:])])
    with pytest.raises(InputError, match="different sizes: 3 x 5, 4 x 5"):
        read("b.tif")


def test_what_is_refused(folder):
    colours = np.zeros((4, 5, 3), np.uint8)
    colours[..., 0] = 9
    Image.fromarray(colours).save("a.png")
    with pytest.raises(InputError, match="colour picture"):
        read("a.png")
    Image.fromarray(np.stack([GREY] * 4, -1)).save("b.png")
    with pytest.raises(InputError, match="partly transparent"):
        read("b.png")
    (folder / "c.png").write_bytes(b"no picture")
    with pytest.raises(InputError, match=r"damaged or not a \.png"):
        read("c.png")
    whole = np.random.default_rng(0).integers(256, size=(90, 90), dtype=np.uint8)
    Image.fromarray(whole).save("d.png")
    (folder / "d.png").write_bytes((folder / "d.png").read_bytes()[:3000])
    with pytest.raises(InputError, match="damaged or cut short"):
        read("d.png")
    Image.fromarray(GREY).save("e.png", format="GIF")
    with pytest.raises(InputError, match="damaged or not"):
        read("e.png")


def test_the_command_line(folder, command):
    other = GREY[::-1].copy()
    Image.fromarray(GREY).save("a.png")
    Image.fromarray(other).save("b.png")
    options = "--ground", "grid:4x5", "--lam", "2", "--normalize"
    code, out, err = command("distance", "a.png", "b.png", *options)
    r, c = (x.ravel() / x.sum() for x in (GREY, other))
    assert code == 0 and err == ""
    np.testing.assert_allclose(float(out), sd.distance(r, c, sd.Ground.grid(4, 5), lam=2))
    np.save("stack.npy", np.stack([GREY, other, GREY.T.reshape(4, 5)]))
    assert command("pairwise", "stack.npy", *options, "--out", "D.npy")[0] == 0
    D = np.load("D.npy")
    assert D.shape == (3, 3)
    np.testing.assert_allclose(D[0, 1], float(out))
    assert command("barycenter", "stack.npy", *options, "--out", "m.npy")[0] == 0
    assert np.load("m.npy").size == 20
    code, _, err = command("pairwise", "a.png", *options, "--out", "E.npy")
    assert code == 2 and "'a.png' holds one histogram of 20 bins" in err
