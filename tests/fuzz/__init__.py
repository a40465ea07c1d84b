"""A standing adversary: random problems, solved by the package and judged by `tests.oracles`."""
