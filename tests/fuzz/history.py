"""Any history: fresh processes solve the same problems in different orders, to the same bits."""

import multiprocessing

EVERY = 50  #: problems from one of the sample to the next
MOST = 400  #: problems of the sample
SECONDS = 300.0  #: for one process


def sample(count, without=()):
    """Indices that are solved once more."""
    step = max(EVERY, count // MOST)
    return [index for index in range(0, count, step) if index not in set(without)]


def orders(indices):
    """The same indices forwards, backwards, and from the middle."""
    middle = len(indices) // 2
    return [indices, indices[::-1], indices[middle:] + indices[:middle]]


def _solve(pipe, seed, indices):
    """What one process finds, to the last bit."""
    from tests.fuzz import answers, problems

    found = {}
    for index in indices:
        _, values = answers.distance(problems.make(seed, index))
        found[index] = answers.bits(values)
    pipe.send(found)


def violations(seed, indices):
    """``(check, index, sentence)`` for each problem whose bits depend on what came before."""
    if not indices:
        return []
    context = multiprocessing.get_context("spawn")
    found = []
    for order in orders(indices):
        ours, theirs = context.Pipe()
        process = context.Process(target=_solve, args=(theirs, seed, order), daemon=True)
        process.start()
        theirs.close()
        try:
            found.append(ours.recv() if ours.poll(SECONDS) else None)
        except EOFError:
            found.append(None)
        process.kill()
        process.join()
    if None in found:
        return [("history", indices[0], "a fresh process died or did not end")]
    return list(compare(found))


def compare(found):
    """Differences between what processes found."""
    for index, bits in found[0].items():
        for other in found[1:]:
            if other[index] != bits:
                yield "history", index, f"{bits} in one order, {other[index]} in another"
