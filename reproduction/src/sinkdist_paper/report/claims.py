"""The claims of the paper and their verdicts: a card for each, and signs in the list of figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sinkdist_paper.figure import Claim
from sinkdist_paper.report.markup import Markup, element, inline, join
from sinkdist_paper.verdict import Verdict

__all__ = ["cards", "signs", "tally"]

_SIGNS = {Verdict.HOLDS: "✓", Verdict.IN_PART: "◐", Verdict.FAILS: "✗", Verdict.OPEN: "?"}
_KINDS = {
    Verdict.HOLDS: "holds",
    Verdict.IN_PART: "part",
    Verdict.FAILS: "fails",
    Verdict.OPEN: "open",
}
_COUNTED = {
    Verdict.HOLDS: ("holds here", "hold here"),
    Verdict.IN_PART: ("holds in part", "hold in part"),
    Verdict.FAILS: ("does not hold", "do not hold"),
    Verdict.OPEN: ("is not decided", "are not decided"),
}


def tally(claims: Sequence[Claim]) -> str:
    """How many claims hold, in a sentence.

    Examples
    --------
    >>> tally([Claim("", "", Verdict.HOLDS), Claim("", "", Verdict.OPEN)])
    'Of 2 claims, 1 holds here and 1 is not decided.'
    """
    counts = Counter(claim.verdict for claim in claims)
    parts = [
        f"{counts[verdict]} {one if counts[verdict] == 1 else many}"
        for verdict, (one, many) in _COUNTED.items()
        if counts[verdict]
    ]
    if not parts:
        return "No claim was judged."
    *first, last = parts
    listed = f"{', '.join(first)} and {last}" if first else last
    return f"Of {len(claims)} claim{'s' * (len(claims) != 1)}, {listed}."


def signs(claims: Sequence[Claim]) -> Markup:
    """The verdicts on the claims of a figure, a sign for each; in words for those who listen."""
    return element(
        "span",
        *(
            element(
                "span", _SIGNS[claim.verdict], class_=f"sign {_KINDS[claim.verdict]}",
                title=claim.verdict.value, role="img", aria_label=claim.verdict.value,
            )
            for claim in claims
        ),
        class_="signs",
    )  # fmt: skip


def cards(claims: Sequence[Claim]) -> Markup:
    """The claims about one figure."""
    return element(
        "ul",
        join(
            element(
                "li",
                element("p", _mark(claim), " ", inline(claim.paper), class_="claim"),
                element("p", inline(claim.measured)),
                class_=_KINDS[claim.verdict],
            )
            for claim in claims
        ),
        class_="cards",
        role="list",
    )


def _mark(claim: Claim) -> Markup:
    """The verdict, shown by a sign, words and a colour."""
    return element(
        "span",
        element("span", _SIGNS[claim.verdict], aria_hidden="true", class_="sign"),
        claim.verdict.value,
        class_=f"verdict {_KINDS[claim.verdict]}",
    )
