"""Pictures as arrays of grey values: the one file that imports Pillow.

Grey values are masses, as they are in the file: nothing is inverted, and the sum is not 1. A .tif
may hold several pictures of one size, which become a stack.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.errors import InputError, needs_extra
from sinkdist.files.claims import check_memory

with needs_extra("images", "A picture"):
    from PIL import Image, ImageSequence, UnidentifiedImageError

__all__ = ["read_image"]

Array = npt.NDArray[Any]

_COLOURS = {"P": "RGBA", "PA": "RGBA", "CMYK": "RGB", "YCbCr": "RGB", "LAB": "RGB", "HSV": "RGB"}


def read_image(path: str) -> Array:
    """The picture in a .png or .tif file as (height, width); several as (n, height, width)."""
    try:
        with Image.open(path, formats=("PNG", "TIFF")) as file:
            frames = getattr(file, "n_frames", 1)
            check_memory(path, 8 * frames * file.width * file.height, "Save it as .npy.")
            pictures = [_grey(path, frame) for frame in ImageSequence.Iterator(file)]
    except (UnidentifiedImageError, Image.DecompressionBombError) as error:
        raise InputError(f"'{path}' is damaged or not a .png or .tif picture.") from error
    except (OSError, SyntaxError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"'{path}' is damaged or cut short.") from error
    if len({picture.shape for picture in pictures}) > 1:
        sizes = ", ".join(sorted({"{} x {}".format(*picture.shape) for picture in pictures}))
        raise InputError(f"'{path}' holds pictures of different sizes: {sizes}.")
    return pictures[0] if len(pictures) == 1 else np.stack(pictures)


def _grey(path: str, frame: Any) -> Array:
    """The grey values of a picture; those of a colour picture only where all colours are equal."""
    values = np.asarray(frame.convert(_COLOURS.get(frame.mode, frame.mode)))
    if values.ndim == 2:
        return values
    colours = 1 if values.shape[2] == 2 else 3
    if values.shape[2] > colours and (values[..., colours:] != 255).any():
        raise InputError(
            f"'{path}' is partly transparent, and it is not known what lies behind it: save it "
            "without transparency."
        )
    if (values[..., :colours] != values[..., :1]).any():
        raise InputError(
            f"'{path}' is a colour picture, and masses are grey values: convert it to grey first."
        )
    return np.ascontiguousarray(values[..., 0])
