"""Running the fuzzer: chunks of problems on some processes, within some time, and a summary."""

import time
from collections import defaultdict

from tests.fuzz import history
from tests.fuzz.progress import Progress
from tests.fuzz.workers import Worker, wait_for

CHUNK = 25  #: problems that are handed out and written down together
LOST = ("hangs", "crashes")
SHOWN = 5  #: indices that the summary names for each check


def run(count, seed, seconds, processes, limit, file, say):
    """Judge the problems 0 to ``count``; returns the progress made, however far."""
    progress = Progress(file, seed)
    chunks = [(k, min(k + CHUNK, count)) for k in range(0, count, CHUNK)]
    chunks = [chunk for chunk in chunks if chunk not in progress.done]
    end, told, begun = time.monotonic() + seconds, time.monotonic(), progress.problems
    start = time.monotonic()
    workers = [Worker(seed) for _ in range(min(processes, len(chunks)))]
    busy = []
    try:
        for worker in workers:
            worker.give(chunks.pop(0))
            busy.append(worker)
        while busy and time.monotonic() < end:
            wait_for(busy, 0.5)
            for worker in list(busy):
                if not worker.is_finished(limit):
                    continue
                progress.add(worker.chunk, worker.violations, worker.skipped, worker.checked)
                if chunks:
                    worker.give(chunks.pop(0))
                else:
                    busy.remove(worker)
            if time.monotonic() - told > 30.0:
                told = time.monotonic()
                rate = (progress.problems - begun) / (told - start)
                say(
                    f"{progress.problems:,} of {count:,} problems, {rate:.1f} per second, "
                    f"{len(progress.violations)} violations"
                )
    finally:
        for worker in workers:
            worker.end()
    if not chunks and not busy and not progress.has_history:
        lost = [index for name, index, _ in progress.violations if name in LOST]
        indices = history.sample(count, without=lost)
        progress.add_history(history.violations(seed, indices), len(indices))
    return progress


def judge_one(seed, index):
    """The violations of one problem."""
    from tests.fuzz import judge, problems

    return judge.examine(problems.make(seed, index)).violations


def reproduction(seed, index, check, seconds):
    """A script that shows what is wrong with one problem."""
    from tests.fuzz import problems
    from tests.fuzz.reproduction import Trials, script, shrink

    trials = Trials(check, seconds=seconds)
    try:
        problem = shrink(problems.make(seed, index), trials)
    finally:
        trials.stop()
    title = f"# problem {index} of seed {seed}, made small"
    return "\n".join(["", title, script(problem, check, trials.sentence), ""])


def summary(progress, seed):
    """Lines about what was checked and found; the last one has the counts."""
    by_check = defaultdict(list)
    for name, index, sentence in progress.violations:
        by_check[name].append((index, sentence))
    for name, count in sorted(progress.checked.items()):
        yield f"  {name}: {count:,} times"
    for name, count in sorted(progress.skipped.items()):
        yield f"  skipped: {name}: {count:,} times"
    for name, found in sorted(by_check.items(), key=lambda item: -len(item[1])):
        indices = list(dict.fromkeys(index for index, _ in sorted(found)))
        some = ", ".join(map(str, indices[:SHOWN])) + (", ..." if len(indices) > SHOWN else "")
        yield f"{name}: {len(found)} violations in {len(indices)} problems ({some})"
        yield f"  such as {sorted(found)[0][1][:300]}"
    yield f"{progress.problems:,} problems, seed {seed}: {len(progress.violations)} violations"
