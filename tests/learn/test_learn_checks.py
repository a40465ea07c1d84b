"""scikit-learn's own checks of the estimators; each one that is excused says why."""

import pytest

pytest.importorskip("sklearn")

from sklearn.utils.estimator_checks import parametrize_with_checks

from sinkdist.learn import (
    TransportKernel,
    TransportKMeans,
    TransportKMedoids,
    TransportNeighborsClassifier,
    TransportNeighborsRegressor,
    TransportNeighborsTransformer,
    TransportSVC,
)

NO_MASS = "some of its rows are 0 everywhere, which are no histograms"
NEGATIVE = "its data are negative, whatever the tags say"
PAIRS = "'max_iter' is for each pair of histograms, so there is no one number of iterations"
NO_DISTANCES = "its precomputed distances are the inner products of blobs: far is near"
NOT_SQUARE = "its data are two features of blobs, which are no matrix of distances"
ONE_CLASS = "its labels are of one class here, and that is what the message says"

ESTIMATORS = [
    TransportKernel(),
    TransportSVC(),
    TransportNeighborsClassifier(),
    TransportNeighborsRegressor(),
    TransportNeighborsTransformer(),
    TransportSVC(distance="chi2"),
    TransportKernel(distance="precomputed"),
    TransportSVC(distance="precomputed"),
    TransportNeighborsClassifier(distance="precomputed"),
    TransportKMeans(3),
    TransportKMedoids(3),
    TransportKMedoids(3, distance="precomputed"),
]


def excused(estimator):
    """The checks that do not apply, with the reason."""
    clusters = isinstance(estimator, (TransportKMeans, TransportKMedoids))  # these have rounds
    reasons = {} if clusters else {
        "check_transformer_n_iter": PAIRS, "check_non_transformer_estimators_n_iter": PAIRS,
    }  # fmt: skip
    if clusters:
        reason = NOT_SQUARE if estimator.distance == "precomputed" else NEGATIVE
        reasons |= {
            "check_clustering": reason, "check_clustering(readonly_memmap=True)": reason,
        }  # fmt: skip
    if estimator.distance != "precomputed":
        reasons |= {
            "check_estimators_dtypes": NO_MASS,
            "check_estimator_sparse_tag": NO_MASS,
            "check_estimator_sparse_array": NO_MASS,
            "check_estimator_sparse_matrix": NO_MASS,
            "check_class_weight_classifiers": NEGATIVE,
        }
    elif isinstance(estimator, TransportNeighborsClassifier):
        reasons["check_classifiers_train"] = NO_DISTANCES
    elif isinstance(estimator, TransportSVC):
        reasons["check_fit2d_1feature"] = ONE_CLASS
    return reasons


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=excused)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)
