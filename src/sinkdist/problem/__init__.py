"""What was asked, checked: the strength of the entropy, and when to stop."""
