"""Processes that judge problems; one that dies or hangs is a finding, not an end."""

import multiprocessing
import time
import traceback
from collections import Counter
from multiprocessing.connection import wait

FIRST = 120.0  #: seconds more for the first problems: kernels may have to be compiled
LATER = 30.0  #: the same for a process that replaces one that was lost
EARLY = 10  #: problems that count as first ones


def _serve(pipe, seed):
    """The loop of a worker: a span of problems comes in, one verdict after another goes out."""
    from tests.fuzz import judge, problems

    while True:
        for index in range(*pipe.recv()):
            try:
                verdict = judge.examine(problems.make(seed, index))
            except Exception:  # ours, not the package's: that is heard where it is called
                verdict = judge.Verdict([("fuzzer", traceback.format_exc())])
            pipe.send((index, verdict.violations, verdict.skipped, verdict.checked))


class Worker:
    """A process with one chunk in hand."""

    def __init__(self, seed):
        self.seed, self.chunk = seed, None
        self._begin(FIRST)

    def _begin(self, grace):
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, self.seed), daemon=True)
        self.process.start()
        theirs.close()
        self.grace, self.judged = grace, 0

    def give(self, chunk):
        """Hand out a chunk."""
        self.chunk, self.index = chunk, chunk[0]
        self.violations, self.skipped, self.checked = [], Counter(), Counter()
        self._send()

    def _send(self):
        self.since = time.monotonic()
        if self.index < self.chunk[1]:
            self.pipe.send((self.index, self.chunk[1]))

    def is_finished(self, limit):
        """Listen to the process; whether its chunk is finished."""
        try:
            while self.index < self.chunk[1] and self.pipe.poll():
                index, violations, skipped, checked = self.pipe.recv()
                self.violations += [(name, index, sentence) for name, sentence in violations]
                self.skipped.update(skipped)
                self.checked.update(checked)
                self.index, self.since = index + 1, time.monotonic()
                self.judged += 1
        except (EOFError, OSError):
            self._lose("crashes", "the process died")
        patience = limit + (self.grace if self.judged < EARLY else 0.0)
        late = time.monotonic() - self.since > patience
        if late and self.index < self.chunk[1]:
            self._lose("hangs", f"no verdict within {limit:g} s")
        return self.index >= self.chunk[1]

    def _lose(self, name, sentence):
        """Note what happened to a problem, and go on behind it with another process."""
        self.violations.append((name, self.index, sentence))
        self.end()
        self._begin(LATER)
        self.index += 1
        self._send()

    def end(self):
        """Stop the process."""
        self.process.kill()
        self.process.join()
        self.pipe.close()


def wait_for(workers, seconds):
    """Sleep until one of the workers says something."""
    wait([worker.pipe for worker in workers], timeout=seconds)
