"""What an unfinished run has measured: kept cell by cell, so that the same command resumes.

A cell is what is measured together: one problem with everyone who takes part. A journal belongs to
one state (the code, the packages, the processor, full or quick); a run of another state starts
anew. A run that ends removes its journal.
"""

from __future__ import annotations

import dataclasses
import json
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from benchmarks.table import Row, Section, as_data, section_of

RESULTS = Path(__file__).parent / "results"


class Journal:
    """Measured cells by name; without a file, they are kept nowhere."""

    def __init__(self, file: Path | None = None, state: dict[str, Any] | None = None) -> None:
        self._file = file
        self._book: dict[str, Any] = {"state": state or {}, "cells": {}}
        if file is not None and file.exists():
            kept = json.loads(file.read_text())
            if kept["state"] == self._book["state"]:
                self._book = kept
                print(f"Resuming: {len(kept['cells'])} cells are measured.", flush=True)
            else:
                print("The unfinished run was of another state: starting anew.", flush=True)

    def data(self, cell: str, measure: Callable[[], Any]) -> Any:
        """What was measured for a cell, as JSON knows it; measured now where it is missing."""
        cells = self._book["cells"]
        if cell not in cells:
            start = time.perf_counter()
            cells[cell] = measure()
            self._keep()
            print(f"{cell}: {time.perf_counter() - start:.0f} s", flush=True)
        return cells[cell]

    def rows(self, cell: str, measure: Callable[[], Iterable[Row]]) -> list[Row]:
        """The rows of a cell."""
        rows = self.data(cell, lambda: [dataclasses.asdict(row) for row in measure()])
        return [Row(**row) for row in rows]

    def section(self, name: str, measure: Callable[[], Section]) -> Section:
        """A whole comparison as one cell."""
        return section_of(self.data(name, lambda: as_data(measure())))

    def close(self) -> None:
        """Remove the file: the run has ended."""
        if self._file is not None:
            self._file.unlink(missing_ok=True)

    def _keep(self) -> None:
        """Write the file, whole or not at all."""
        if self._file is None:
            return
        self._file.parent.mkdir(exist_ok=True)
        new = self._file.with_suffix(".new")
        new.write_text(json.dumps(self._book, indent=1) + "\n")
        os.replace(new, self._file)
