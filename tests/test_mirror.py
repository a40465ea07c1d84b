"""Every module has a test file where its name says: tests/a/b/test_c.py for sinkdist/a/b/c.py."""

from pathlib import Path

import pytest

import sinkdist

SOURCE, TESTS = Path(sinkdist.__file__).parent, Path(__file__).parent

#: Modules, or folders, whose tests lie elsewhere: the file that has them.
ELSEWHERE = {
    # What is public is tested as users import it, package by package.
    "api/pairs.py": "behaviour/test_verbs.py",
    "classic": "classic/test_classic.py",
    "cli": "cli/test_cli.py",
    "files": "files/test_files.py",
    "similarity": "similarity/test_similarity.py",
    "solution/solution.py": "behaviour/test_verbs.py",
    "search/asking.py": "api/test_neighbors.py",
    "search/candidates.py": "api/test_neighbors.py",
    "search/engine.py": "api/test_neighbors.py",
    "search/exhaustive.py": "api/test_neighbors.py",
    "search/guessing.py": "api/test_neighbors.py",
    "search/neighbors.py": "api/test_neighbors.py",
    "search/neighbors_store.py": "search/test_running.py",
    "search/opening.py": "search/test_running.py",
    "search/query.py": "api/test_neighbors.py",
    "search/tile_search.py": "search/test_running.py",
    "search/rounds.py": "search/test_cascade.py",
    "search/stored.py": "search/test_index.py",
    "solvers/explored.py": "search/test_cascade.py",
    "means/result.py": "api/test_barycenter.py",
    "learn/distance_spec.py": "learn/test_learn.py",
    "learn/estimator.py": "learn/test_learn.py",
    "learn/kernel.py": "learn/test_learn.py",
    "learn/neighbors.py": "learn/test_learn.py",
    "learn/regressor.py": "learn/test_searching.py",
    "learn/transformer.py": "learn/test_searching.py",
    "learn/svc.py": "learn/test_learn.py",
    "api/estimate.py": "behaviour/test_first_minute.py",
    "scale/estimate.py": "behaviour/test_first_minute.py",
    "inputs/labels.py": "behaviour/test_first_minute.py",
    "inputs/named_options.py": "behaviour/test_first_minute.py",
    "problem/scale_check.py": "behaviour/test_first_minute.py",
    "errors.py": "behaviour/test_errors.py",
    "version.py": "behaviour/test_packaging.py",
    # Seen only through a whole run: of a store, of a solver, on another library's arrays.
    "scale/run.py": "scale/test_resume.py",
    "scale/stored_views.py": "behaviour/test_first_minute.py",
    "scale/stored.py": "scale/test_store.py",
    "scale/summary.py": "scale/test_store.py",
    "solvers/compiled/pair.py": "behaviour/test_contract.py",
    "solvers/compiled/batch.py": "behaviour/test_contract.py",
    "solvers/members": "solvers/test_members.py",
    "solvers/prepared.py": "solvers/test_members.py",
    "solvers/local.py": "behaviour/test_grids.py",
    "solvers/compiled/grid/newton.py": "behaviour/test_grids.py",
    "solvers/compiled/grid/relaxed.py": "behaviour/test_grids.py",
    "solvers/compiled/grid/scaled.py": "behaviour/test_grids.py",
    "solvers/compiled/grid/solve.py": "behaviour/test_grids.py",
    "solvers/compiled/grid/pair.py": "behaviour/test_grids.py",
    "solvers/compiled/grid/symmetric.py": "behaviour/test_grids.py",
    "pairs/self_kernel.py": "behaviour/test_grids.py",
    "solution/plan_certificates.py": "behaviour/test_grids.py",
    "solution/plan_sums.py": "behaviour/test_clouds.py",
    "solvers/compiled/cloud/levels.py": "behaviour/test_clouds.py",
    "solvers/compiled/cloud/sweeps.py": "behaviour/test_clouds.py",
    "solvers/compiled/cloud/pair.py": "behaviour/test_clouds.py",
    "kernels/cloud/runs.py": "kernels/cloud/test_sweeps.py",
    "solution/projection.py": "behaviour/test_grids.py",
    "ground/grid_plan.py": "kernels/grid/test_averages.py",
    "ground/product_plan.py": "kernels/grid/test_averages.py",
    "ground/separable_plan.py": "kernels/grid/test_averages.py",
    "ground/radial_plan.py": "kernels/grid/test_averages.py",
    "ground/grid_axes.py": "kernels/grid/test_averages.py",
    "solvers/compiled/simplex/pairs.py": "solvers/compiled/simplex/test_batch.py",
    "solvers/compiled/simplex/proof.py": "solvers/compiled/simplex/test_batch.py",
    "solvers/exact_result.py": "solvers/compiled/test_exact.py",
    "solvers/closed_forms/tree.py": "solvers/closed_forms/test_closed_forms.py",
    "solvers/closed_forms/cycle.py": "solvers/closed_forms/test_closed_forms.py",
    "solvers/closed_forms/constant.py": "solvers/closed_forms/test_closed_forms.py",
    "solvers/closed_forms/flows.py": "kernels/test_flows.py",
    "pairs/reading.py": "problem/test_options.py",
    "pairs/divergence.py": "api/test_divergence.py",
    "problem/problem.py": "problem/test_options.py",
    "ground/blocks.py": "ground/test_dense.py",
    "solution/certificates": "solution/test_certificates.py",
    "solution/evidence.py": "solution/test_solution_arrays.py",
    "solution/reductions.py": "solution/test_solution_arrays.py",
    "pairs/all_pairs.py": "behaviour/test_verbs.py",
    "pairs/matched.py": "behaviour/test_verbs.py",
    "pairs/tile_part.py": "ground/test_on_demand.py",
    "pairs/job.py": "scale/test_store.py",
    "solvers/compiled/unbalanced_batch.py": "behaviour/test_masses.py",
    "solvers/compiled/unbalanced_products.py": "solvers/compiled/test_unbalanced.py",
    "pairs/mass_debiasing.py": "behaviour/test_masses.py",
    "solution/mass_evidence.py": "behaviour/test_masses.py",
    "pairs/debiasing.py": "api/test_divergence.py",
    "pairs/arrays": "pairs/arrays/test_devices_values.py",
    "inputs/array_context.py": "pairs/arrays/test_devices_values.py",
    "solvers/arrays/transport.py": "pairs/arrays/test_devices_values.py",
    "solvers/arrays/constrained.py": "pairs/arrays/test_devices_values.py",
    "solvers/adjoint/frameworks.py": "solvers/adjoint/test_devices_gradients.py",
    "solvers/adjoint/torch_autograd.py": "solvers/adjoint/test_devices_gradients.py",
    "solvers/adjoint/jax_vjp.py": "solvers/adjoint/test_devices_gradients.py",
    "torch.py": "behaviour/test_losses.py",
    "jax.py": "behaviour/test_losses.py",
    "inputs/thresholds.py": "inputs/test_histograms.py",
    "kernels/compiling.py": "kernels/test_compiled.py",
    "kernels/near_entries.py": "kernels/test_passes.py",
    "kernels/views.py": "kernels/test_compiled.py",
    # Protocols and constants: nothing to run.
    "ground/operator.py": "ground/test_dense.py",
    "solvers/policy.py": "kernels/test_passes.py",
}

MODULES = sorted(
    path.relative_to(SOURCE).as_posix()
    for path in SOURCE.rglob("*.py")
    if path.name not in ("__init__.py", "__main__.py")
)


def mirrored(module):
    folder, _, name = module.rpartition("/")
    return TESTS / folder / f"test_{name}"


def entries(module):
    """The entries of the table for a module, or for a folder that it lies in."""
    return [key for key in ELSEWHERE if module == key or module.startswith(f"{key}/")]


@pytest.mark.parametrize("module", MODULES)
def test_every_module_has_its_tests(module):
    """One entry of the table, or a file of its name: never both, so that the table stays short."""
    where = f"tests/{mirrored(module).relative_to(TESTS).as_posix()}"
    if mirrored(module).exists():
        assert module not in ELSEWHERE, f"{where} is there: take {module} out of the table"
    else:
        assert len(entries(module)) == 1, f"{where} is missing"


@pytest.mark.parametrize("key", ELSEWHERE)
def test_the_table_speaks_of_what_is_there(key):
    assert (SOURCE / key).exists(), f"{key} is gone: take it out of the table"
    assert (TESTS / ELSEWHERE[key]).is_file()
