"""Statuses: their codes lie on people's disks, so they never change."""

from sinkdist.solution.status import Status


def test_codes_are_those_that_were_stored():
    stored = {"CONVERGED": 0, "MAX_ITER": 1, "STALLED": 2, "FIXED": 3, "EMPTY": 4}
    assert {status.name: int(status) for status in Status} == stored


def test_every_status_has_a_sentence():
    sentences = {str(status) for status in Status}
    assert len(sentences) == len(Status) and all(text.endswith(".") for text in sentences)
