"""Receipts of the long checks: what was seen, when, and of which files. CONTRIBUTING.md, "Receipts", is their page."""
