"""Make the table of the demo from WordNet: definitions of nouns as counts of words, and vectors.

Needs the files of WordNet 3.0 (Debian: ``apt install wordnet-base``, /usr/share/wordnet). Written
are counts of words for each definition, the word that is defined and its kind, and a vector for
every word: positive pointwise mutual information of words that meet in a definition, or in what it
defines, its leading singular vectors, rows normalised. No sentence of the dictionary is kept:
counts have no order, and frequent words are left out.

Run from the root of the project: ``python reproduction/scripts/make_definitions.py``.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import svds

TARGET = Path(__file__).parents[1] / "src" / "sinkdist_paper" / "demo" / "definitions.npz"
#: WordNet's numbers for the kinds of nouns that are used.
KINDS = {
    5: "animal", 13: "food", 20: "plant", 8: "body", 18: "person", 4: "act", 6: "artifact",
    15: "location",
}  # fmt: skip
EACH = 200  # definitions of a kind
DIMENSION = 60  # of the vectors
FEWEST, MOST = 4, 20  # known words of a definition
RARE = 3  # definitions that a word must occur in to have a vector
_STOP = """
a about also an and any are as at be been being but by can especially etc for from had has have
having he her his if in into is it its made may more most of often on one or other over s same she
so some such than that the their them then there they this those through to under up used usually
very was were when where which who whose with within without you your
"""
STOP = set(_STOP.split())


def entries(folder: Path) -> list[tuple[int, str, list[str]]]:
    """Kind, first word and words of the definition of all that is defined."""
    lines = [
        line
        for part in ("noun", "verb", "adj", "adv")
        for line in (folder / f"data.{part}").read_text(encoding="ascii").splitlines()
        if not line.startswith("  ")  # the licence at the top
    ]
    found = []
    for line in lines:
        entry, _, gloss = line.partition(" | ")
        fields = entry.split()
        definition = re.sub(r'"[^"]*"?', " ", gloss)  # examples are in quotes
        words = [word for word in re.findall(r"[a-z]+", definition.lower()) if len(word) > 2]
        found.append((int(fields[1]), fields[4], words))
    return found


def singular(words: list[str], known: Counter[str]) -> list[str]:
    """Plurals whose singular is a word as well become it."""

    def one(word: str) -> str:
        for ending, instead in (("ies", "y"), ("es", ""), ("s", "")):
            base = word[: -len(ending)] + instead
            if word.endswith(ending) and not word.endswith("ss") and known[base] >= RARE:
                return base
        return word

    return [one(word) for word in words if word not in STOP]


def vectors(counts: csr_array) -> np.ndarray:
    """Positive pointwise mutual information within definitions, reduced; rows of length 1."""
    there = (counts > 0).astype(float)
    together = (there.T @ there).tocoo()
    apart = together.row != together.col
    rows, columns, values = together.row[apart], together.col[apart], together.data[apart]
    totals = np.bincount(rows, values, minlength=counts.shape[1])
    expected = totals[rows] * totals[columns] / totals.sum()
    information = np.log(values / expected)
    keep = information > 0
    matrix = csr_array(
        (information[keep], (rows[keep], columns[keep])), shape=(counts.shape[1],) * 2
    )
    start = np.full(counts.shape[1], counts.shape[1] ** -0.5)
    u, s, _ = svds(matrix, k=DIMENSION, v0=start)
    order = np.argsort(-s)
    places = u[:, order] * np.sqrt(s[order])
    return places / np.maximum(np.linalg.norm(places, axis=1, keepdims=True), 1e-12)


def table(lines: list[tuple[int, str, list[str]]], names: list[str]) -> csr_array:
    """Counts of known words, one row for each definition."""
    place = {name: k for k, name in enumerate(names)}
    triples = [
        (row, place[word], number)
        for row, (_, _, words) in enumerate(lines)
        for word, number in Counter(words).items()
        if word in place
    ]
    rows, columns, numbers = np.array(triples).T
    return csr_array((numbers, (rows, columns)), shape=(len(lines), len(names)))


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description="Make the table of the demo from WordNet.")
    parser.add_argument("--wordnet", type=Path, default=Path("/usr/share/wordnet"))
    parser.add_argument("--out", type=Path, default=TARGET)
    asked = parser.parse_args()
    lines = entries(asked.wordnet)
    known = Counter(word for _, _, words in lines for word in set(words))
    lines = [(kind, head, singular(words, known)) for kind, head, words in lines]
    spread = Counter(word for _, _, words in lines for word in set(words))
    names = sorted(word for word, number in spread.items() if number >= RARE)
    counts = table(lines, names)
    places = vectors(table([(kind, head, [*words, head]) for kind, head, words in lines], names))
    kinds = np.array([kind for kind, _, _ in lines])
    sizes = np.diff(counts.indptr)
    fit = (sizes >= FEWEST) & (sizes <= MOST)
    fit &= [head.islower() and head.isalpha() for _, head, _ in lines]
    drawn = np.random.default_rng(0)
    chosen = np.concatenate(
        [np.sort(drawn.choice(np.flatnonzero(fit & (kinds == k)), EACH, False)) for k in KINDS]
    )
    some = counts[chosen]
    used = np.unique(some.indices)
    some = some[:, used]
    np.savez_compressed(
        asked.out,
        counts=some.data.astype(np.uint8), indices=some.indices.astype(np.uint16),
        indptr=some.indptr.astype(np.uint16), words=np.array(names)[used].astype(bytes),
        heads=np.array([lines[k][1] for k in chosen]).astype(bytes),
        kinds=np.array([KINDS[k] for k in kinds[chosen]]).astype(bytes),
        vectors=places[used].astype(np.float16),
    )  # fmt: skip
    print(  # noqa: T201
        f"{asked.out}: {some.shape[0]:,} definitions, {some.shape[1]:,} words, "
        f"{some.nnz / some.shape[0]:.1f} of them each, {asked.out.stat().st_size:,} bytes"
    )


if __name__ == "__main__":
    main()
