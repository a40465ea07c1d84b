"""The verbs, one file each; what users call, and nothing that computes."""
