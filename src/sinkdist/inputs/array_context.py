"""Which library arrays belong to, and where they live.

A library is considered only if it is in ``sys.modules`` already: an array of a package that was not
imported cannot exist. All histograms of a call, and costs that are an array of such a library, must
live in one place; nothing is moved silently, except a `Ground` or a NumPy matrix, once.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sinkdist.errors import InputError, InputTypeError
from sinkdist.inputs.messages import unknown_dtype

__all__ = ["ArrayContext", "context_of", "is_on_device", "kind_of"]

Array: TypeAlias = Any  #: an array of the standard

#: Libraries, and the class of their arrays.
_CLASSES = {"torch": "Tensor", "jax": "Array", "cupy": "ndarray"}
_STRICT = "array_api_strict"
_REAL = ("float", "bfloat", "int", "uint", "bool")
_SINGLE = ("float32", "float16", "bfloat16")


def kind_of(value: Any) -> str | None:
    """The library that an array belongs to; None for NumPy's and for all that is no array."""
    for kind, name in _CLASSES.items():
        module = sys.modules.get(kind)
        if module is not None and isinstance(value, getattr(module, name, ())):
            return kind
    return _STRICT if type(value).__module__.partition(".")[0] == _STRICT else None


def is_on_device(*values: Any) -> bool:
    """Whether any value is an array of torch, JAX, CuPy or array-api-strict."""
    return any(type(value) is not np.ndarray and kind_of(value) is not None for value in values)


@dataclass(frozen=True, slots=True, eq=False)
class ArrayContext:
    """Where the arrays of a call live."""

    kind: str  #: the library's name
    device: Any  #: its device; None where JAX is only tracing
    xp: Any  #: its functions, as the array API standard spells them

    @property
    def is_large(self) -> bool:
        """Whether the device is an accelerator, which wants large blocks."""
        name = str(getattr(self.device, "type", self.device)).lower()
        return self.kind == "cupy" or not ("cpu" in name or self.device is None)

    @property
    def has_double(self) -> bool:
        """Whether float64 can be computed in here."""
        if self.kind == "jax":
            return bool(sys.modules["jax"].config.jax_enable_x64)
        return getattr(self.device, "type", "") != "mps"

    def dtype(self, arrays: list[Array], asked: Any) -> np.dtype[Any]:
        """What to compute in, by the same rule as for NumPy: float32 where all input is."""
        if asked is not None:
            name = str(getattr(asked, "__name__", asked)).rpartition(".")[2]
            if name not in ("float32", "float64"):
                raise unknown_dtype(asked)
            if name == "float64" and not self.has_double:
                raise InputError(
                    "dtype='float64' is not available: JAX needs jax.config.update("
                    "'jax_enable_x64', True), and mps has no float64."
                )
            return np.dtype(name)
        single = all(_name(array) in _SINGLE for array in arrays) or not self.has_double
        return np.dtype(np.float32 if single else np.float64)

    def cast(self, array: Array, dtype: np.dtype[Any]) -> Array:
        """An array of this place in another dtype."""
        if _name(array) == dtype.name:
            return array
        return self.xp.astype(array, getattr(self.xp, dtype.name))

    def put(self, array: npt.NDArray[Any], dtype: Any = None) -> Array:
        """A NumPy array as one of this place."""
        array = np.ascontiguousarray(array, dtype=dtype)
        if self.kind == "jax":
            with sys.modules["jax"].ensure_compile_time_eval():
                return self.xp.asarray(array, device=self.device)
        if self.kind == "torch":
            array = array if array.flags.writeable else array.copy()
        return self.xp.asarray(array, device=self.device)

    def constant(self, array: Array) -> Array:
        """The same numbers, of which no gradient is taken."""
        if self.kind == "torch":
            return array.detach()
        return sys.modules["jax"].lax.stop_gradient(array) if self.kind == "jax" else array

    def is_learned(self, array: Array) -> bool:
        """Whether a gradient with respect to the array may be on its way."""
        if self.kind == "jax":
            return isinstance(array, sys.modules["jax"].core.Tracer)
        return self.kind == "torch" and bool(array.requires_grad)

    def host(self, array: Array) -> npt.NDArray[Any] | None:
        """The numbers on the host; None while they are not known: under `jit` and `vmap`."""
        array = self.constant(array)
        try:
            if self.kind == "torch":
                return _from_torch(array.cpu())
            if self.kind == _STRICT:
                array = array.to_device(self.xp.Device("CPU_DEVICE"))
            return np.asarray(array.get() if self.kind == "cupy" else array)
        except (RuntimeError, TypeError) as error:
            if self.kind == "torch" or _is_tracing(error):
                return None
            raise


def context_of(named: dict[str, Any], costs: Any) -> ArrayContext:
    """The one place where all named arrays live, and costs too if they are of such a library."""
    if kind_of(costs) is not None:
        named = {**named, "ground": costs}
    kinds = {name: kind_of(value) or _plain_kind(value) for name, value in named.items()}
    if len(set(kinds.values())) > 1:
        raise InputTypeError(
            f"{_listed(kinds)}: all arrays of a call must be of one kind. "
            "Convert them first; only a Ground or a NumPy matrix is moved to where histograms are."
        )
    for name, value in named.items():
        _refuse_odd(name, value)
    devices = {name: _device(value) for name, value in named.items()}
    present = [device for device in devices.values() if device is not None]
    if any(device != present[0] for device in present[1:]):
        raise InputTypeError(
            f"{_listed({name: f'on {device}' for name, device in devices.items()})}: all arrays of "
            "a call must live on one device. Move them first."
        )
    from array_api_compat import array_namespace

    first = next(iter(named.values()))
    return ArrayContext(
        next(iter(kinds.values())), present[0] if present else None, array_namespace(first)
    )


def _refuse_odd(name: str, value: Array) -> None:
    """Raise for what is no plain array of real numbers, before a library says so in its own way."""
    subject = "The ground matrix" if name == "ground" else f"'{name}'"
    dtype = _name(value)
    if not dtype.startswith(_REAL) or "complex" in dtype:
        repair = ": pass its .dequantize()" if dtype.startswith(("q", "uq")) else ""
        raise InputTypeError(
            f"{subject} must hold real numbers. Got dtype {dtype} instead{repair}."
        )
    if kind_of(value) != "torch":
        return
    if value.device.type == "meta" or type(value).__name__ == "FakeTensor":
        raise InputTypeError(
            f"{subject} is a tensor without numbers (a {type(value).__name__} on {value.device}), "
            "which has no distance: pass one that has been filled."
        )
    if value.is_nested:
        raise InputTypeError(
            f"{subject} is a nested tensor, whose rows may be of different lengths: pass its "
            ".to_padded_tensor(0.0)."
        )
    layout = str(value.layout).rpartition(".")[2]
    if layout != "strided":
        raise InputTypeError(f"{subject} is a {layout} tensor: pass its .to_dense().")


def _name(array: Array) -> str:
    """The name of an array's dtype, without its library."""
    return str(array.dtype).rpartition(".")[2]


def _plain_kind(value: Any) -> str:
    """What messages call an array that is of none of the libraries."""
    return "numpy" if isinstance(value, np.ndarray) else type(value).__name__


def _listed(words: dict[str, str]) -> str:
    """Names and words as the beginning of a sentence."""
    return " and ".join(f"'{name}' is {word}" for name, word in words.items())


def _from_torch(array: Array) -> npt.NDArray[Any]:
    """A tensor's numbers; under torch.func they can be listed, but have no buffer."""
    if _name(array) == "bfloat16":  # which NumPy does not know
        array = array.float()
    try:
        numbers: npt.NDArray[Any] = array.numpy()
    except RuntimeError:
        numbers = np.asarray(array.tolist(), dtype=_name(array))
    return numbers


def _device(value: Any) -> Any:
    """The device of an array; None while JAX is only tracing."""
    jax = sys.modules.get("jax")
    if jax is not None and isinstance(value, jax.core.Tracer):
        return None
    return value.device


def _is_tracing(error: Exception) -> bool:
    """Whether JAX refused to look at a number that is not there yet."""
    errors = sys.modules["jax"].errors if "jax" in sys.modules else None
    return errors is not None and isinstance(error, errors.JAXTypeError)
