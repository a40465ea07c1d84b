"""Oracles: the same distances by other means, without a line of the package.

Each answers with an `Enclosure`: two numbers between which the truth lies, with proof.
"""
