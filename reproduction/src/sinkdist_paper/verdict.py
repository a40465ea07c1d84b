"""The verdict on a claim of the paper: it holds, in part or not at all, or it is not decided.

Most claims say more than one thing. Each of these is tested on its own, by a number from the
measurements, and the rule of `Verdict.of` makes one verdict of them: a claim holds only if all of
it does.
"""

from __future__ import annotations

import enum

__all__ = ["Verdict"]


class Verdict(enum.Enum):
    """What the measurements say about a claim; the value is its wording."""

    HOLDS = "Holds"
    IN_PART = "Holds in part"
    FAILS = "Does not hold"
    OPEN = "Not decided here"

    @classmethod
    def of(cls, *parts: bool) -> Verdict:
        """The verdict on a claim from the tests of its parts.

        Parameters
        ----------
        *parts : bool
            Whether each part of the claim is supported; without any, nothing is decided.

        Examples
        --------
        >>> Verdict.of(True, True), Verdict.of(True, False)
        (<Verdict.HOLDS: 'Holds'>, <Verdict.IN_PART: 'Holds in part'>)
        """
        if not parts:
            return cls.OPEN
        if all(parts):
            return cls.HOLDS
        return cls.IN_PART if any(parts) else cls.FAILS
