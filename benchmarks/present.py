"""Frameworks and devices: what is there to be measured, and how to wait for it."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np


def is_there(module: str) -> bool:
    """Whether a package is installed."""
    return importlib.util.find_spec(module) is not None


def torch_devices() -> list[str]:
    """CPU, and what accelerators torch sees."""
    if not is_there("torch"):
        return []
    import torch

    found = ["cpu"]
    found += ["cuda"] if torch.cuda.is_available() else []
    found += ["mps"] if torch.backends.mps.is_available() else []
    return found


def jax_devices() -> dict[str, Any]:
    """The same for JAX, by the names that torch gives them."""
    if not is_there("jax"):
        return {}
    import jax

    names = {"gpu": "cuda", "METAL": "mps"}
    found = {"cpu": jax.devices("cpu")[0]}
    return found | {names.get(d.platform, d.platform): d for d in reversed(jax.devices())}


def waited(call: Callable[[Any], Any], device: str) -> Callable[[Any], Any]:
    """A call of torch that ends when its device has."""
    import torch

    if device == "cpu":
        return call

    def wait(item: Any) -> Any:
        result = call(item)
        (torch.cuda if device == "cuda" else torch.mps).synchronize()
        return result

    return wait


def on_host(array: Any) -> Any:
    """As a NumPy array."""
    return np.asarray(array.cpu() if hasattr(array, "cpu") else array)


def devices() -> list[str]:
    """All devices of both frameworks, the CPU first."""
    return list(dict.fromkeys([*torch_devices(), *jax_devices()]))


def presence() -> str:
    """What was there to be measured, as a sentence."""
    accelerators = [device for device in devices() if device != "cpu"]
    if not devices():
        return "Neither torch nor JAX is installed: nothing was measured."
    if not accelerators:
        return "No accelerator was found (neither CUDA nor MPS): the CPU is all that was measured."
    return f"Accelerators found: {', '.join(accelerators)}."
