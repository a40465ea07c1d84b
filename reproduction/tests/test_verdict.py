"""The rule by which the tests of a claim's parts become one verdict."""

import pytest

from sinkdist_paper.verdict import Verdict


@pytest.mark.parametrize(
    ("parts", "verdict"),
    [
        ((True,), Verdict.HOLDS),
        ((True, True, True), Verdict.HOLDS),
        ((True, True, False), Verdict.IN_PART),
        ((False, True), Verdict.IN_PART),
        ((False,), Verdict.FAILS),
        ((False, False), Verdict.FAILS),
        ((), Verdict.OPEN),
    ],
)
def test_a_claim_holds_only_if_all_of_it_does(parts, verdict):
    assert Verdict.of(*parts) is verdict


def test_every_verdict_has_its_own_words():
    assert len({verdict.value for verdict in Verdict}) == len(Verdict) == 4
