"""What is installed: its names, its types, its version, and how little an import costs."""

import importlib.metadata
import importlib.resources
import re
import subprocess
import sys

import pytest

import sinkdist

# Loaded when first needed, or by those who installed an extra; never by `import sinkdist`.
NOT_AT_IMPORT = {
    "array_api_compat",
    "jax",
    "matplotlib",
    "numba",
    "ot",
    "pandas",
    "rich",
    "scipy",
    "sklearn",
    "torch",
    "typer",
}


def python(code: str) -> str:
    """What a new interpreter prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_types_are_shipped():
    assert (importlib.resources.files("sinkdist") / "py.typed").is_file()


def test_public_names_exist_and_are_listed_once():
    assert len(set(sinkdist.__all__)) == len(sinkdist.__all__)
    assert [name for name in sinkdist.__all__ if not hasattr(sinkdist, name)] == []
    verbs = {"distance", "glue", "pairwise", "path", "solve"}
    assert verbs | {"Ground", "Solution", "similarity"} <= set(sinkdist.__all__)


def test_public_names_are_offered_by_dir():
    assert set(sinkdist.__all__) <= set(dir(sinkdist))


def test_public_names_are_documented():
    public = [getattr(sinkdist, name) for name in sinkdist.__all__]
    assert [thing for thing in public if callable(thing) and not thing.__doc__] == []


def test_version_has_three_numbers():
    assert re.fullmatch(r"\d+\.\d+\.\d+([abrc.]\w+)?", sinkdist.__version__)


def test_version_is_the_installed_one():
    try:
        installed = importlib.metadata.version("sinkdist")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("sinkdist is on the path, but not installed")
    assert installed == sinkdist.__version__


def test_import_loads_nothing_heavy():
    loaded = python("import sys, sinkdist; print(*{name.split('.')[0] for name in sys.modules})")
    assert NOT_AT_IMPORT & set(loaded.split()) == set()


def test_import_is_quick():
    code = "import time; t = time.process_time(); import sinkdist; print(time.process_time() - t)"
    # Time on the processor, and the best of several: other work on the machine only ever adds.
    assert min(float(python(code)) for _ in range(5)) < 0.3
