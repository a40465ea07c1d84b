"""Comparisons of sinkdist with the packages people use today, each runnable on its own."""
