"""What is installed: its names, its types, its version, and how little an import costs."""

import importlib.metadata
import importlib.resources
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import sinkdist

# Loaded when first needed, or by those who installed an extra; never by `import sinkdist`.
NOT_AT_IMPORT = {
    "array_api_compat",
    "dask",
    "distributed",
    "filelock",
    "fsspec",
    "google_crc32c",
    "jax",
    "matplotlib",
    "numba",
    "ot",
    "pandas",
    "psutil",
    "pyarrow",
    "rich",
    "scipy",
    "sklearn",
    "torch",
    "typer",
    "zarr",
}

CORE = {"numpy", "scipy", "numba", "threadpoolctl", "array-api-compat"}
EXTRAS = {
    "store": {"zarr", "google-crc32c", "filelock"},
    "cli": {"typer", "rich"},
    "cluster": {"sinkdist[store]", "distributed"},
    "cloud": {"sinkdist[store]", "fsspec"},
    "parquet": {"pyarrow"},
    "images": {"pillow"},
    "learn": {"scikit-learn"},
    "plot": {"matplotlib"},
    "all": {"sinkdist[store,cli,cluster,cloud,parquet,images,learn,plot]"},
    "torch": {"torch"},
    "jax": {"jax"},
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


@pytest.mark.parametrize("module", ["classic", "similarity", "files", "scale.stored"])
def test_what_knows_no_solver_imports_no_numba(module):
    loaded = python(
        f"import sys, sinkdist.{module}; print(*{{name.split('.')[0] for name in sys.modules}})"
    )
    assert NOT_AT_IMPORT & set(loaded.split()) == set()


def test_import_loads_nothing_heavy():
    loaded = python("import sys, sinkdist; print(*{name.split('.')[0] for name in sys.modules})")
    assert (NOT_AT_IMPORT | {"numpy"}) & set(loaded.split()) == set()


def test_import_is_quick():
    code = "import time; t = time.process_time(); import sinkdist; print(time.process_time() - t)"
    # Time on the processor, and the best of several: other work on the machine only ever adds.
    assert min(float(python(code)) for _ in range(10)) < 0.05


def requirements(lines):
    """The names in a list of requirements, without versions."""
    return {re.split(r"[<>=!~;]", line)[0].strip() for line in lines}


def test_the_core_is_light_and_the_rest_are_extras():
    pyproject = Path(__file__).parents[2] / "pyproject.toml"
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    assert requirements(project["dependencies"]) == CORE
    extras = project["optional-dependencies"]
    assert {name: requirements(extras[name]) for name in EXTRAS} == EXTRAS
    assert "sinkdist[all" in project["optional-dependencies"]["test"][0]


def test_the_version_is_the_same_everywhere():
    """In what is cited, packaged for conda and told in the changelog."""
    root, version = Path(__file__).parents[2], sinkdist.__version__
    for name, said in (
        ("CITATION.cff", f"\nversion: {version}\n"),
        ("conda.recipe/meta.yaml", f'{{% set version = "{version}" %}}'),
        ("CHANGELOG.md", f"\n## [{version}] - "),
    ):
        assert said in (root / name).read_text(encoding="utf-8"), name


def test_minimum_versions_are_those_of_the_project():
    """What CI installs as the oldest supported versions, and what conda asks for."""
    root = Path(__file__).parents[2]
    script = [sys.executable, ".ci/minimum_versions.py"]
    printed = subprocess.run(script, cwd=root, capture_output=True, text=True, check=True).stdout
    oldest = dict(line.split("==") for line in printed.split())
    assert set(oldest) >= CORE | {"zarr", "typer", "scikit-learn", "pandas"}
    recipe = (root / "conda.recipe/meta.yaml").read_text(encoding="utf-8")
    for name in CORE:
        assert f"- {name} >={oldest[name]}\n" in recipe
