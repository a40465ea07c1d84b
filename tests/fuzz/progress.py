"""What a run has done so far, in one small file of JSON lines: the same command goes on from it.

The first line holds the seed. Others are ``{"done": [first, last], ...}`` with counts, or
``{"violation": check, "index": ..., "sentence": ...}``, written before the chunk that holds them.
"""

import json
from collections import Counter
from pathlib import Path

HISTORY = (-1, -1)  #: stands for the chunk that is none: all problems, in other orders


class Progress:
    """Chunks that are finished, and what was found; on disk where a file is named."""

    def __init__(self, file, seed):
        self.file = None if file is None else Path(file)
        self.done, self.violations = set(), []
        self.skipped, self.checked = Counter(), Counter()
        lines = self._lines()
        if lines and lines[0].get("seed") != seed:
            raise SystemExit(f"{file} belongs to another seed: {lines[0].get('seed')}.")
        finished = {tuple(line["done"]) for line in lines if "done" in line}
        for line in lines:
            # Violations of a chunk that was not finished are found again with it.
            if "done" in line or ("violation" in line and tuple(line["chunk"]) in finished):
                self._take(line)
        if self.file is not None and not lines:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            self._write({"seed": seed})

    def add(self, chunk, violations, skipped, checked):
        """A finished chunk: ``violations`` are ``(check, index, sentence)``."""
        lines = [
            {"violation": name, "index": index, "sentence": sentence, "chunk": list(chunk)}
            for name, index, sentence in violations
        ]
        lines.append({"done": list(chunk), "skipped": dict(skipped), "checked": dict(checked)})
        for line in lines:
            self._take(line)
            self._write(line)

    def add_history(self, violations, count):
        """What fresh processes found in the end."""
        self.add(HISTORY, violations, {}, {"history": count})

    @property
    def has_history(self):
        """Whether that was done already."""
        return HISTORY in self.done

    @property
    def problems(self):
        """How many problems have been judged."""
        return sum(last - first for first, last in self.done)

    def _take(self, line):
        if "done" in line:
            self.done.add(tuple(line["done"]))
            self.skipped.update(line["skipped"])
            self.checked.update(line["checked"])
        else:
            self.violations.append((line["violation"], line["index"], line["sentence"]))

    def _lines(self):
        """All whole lines; one that was torn by a crash is left out."""
        if self.file is None or not self.file.exists():
            return []
        lines = []
        for text in self.file.read_text().splitlines():
            try:
                lines.append(json.loads(text))
            except json.JSONDecodeError:
                break
        return lines

    def _write(self, line):
        if self.file is not None:
            with self.file.open("a") as file:
                file.write(json.dumps(line) + "\n")
