#!/usr/bin/env python3
"""Checks that the files which documents name are there: links, paths from the root, names of sources and of suites of tests."""

import os
import re
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
LINK = re.compile(r"\]\(([^)\s]+)\)")
PATH = re.compile(r"`((?:Sources|Tests|ops|jobs)/[\w./+-]+)`")
SOURCE = re.compile(r"`([\w+-]+\.(?:swift|lua))`")
SUITE = re.compile(r"`(\w+Tests)`")


def missing(document, names):
    """What a document names and the repository does not have."""
    text = open(os.path.join(ROOT, document)).read()
    for link in LINK.findall(text):
        path = link.split("#")[0]
        if path and not re.match(r"[a-z]+:|/", path):
            if not os.path.exists(os.path.join(ROOT, os.path.dirname(document), path)):
                yield link
    for path in PATH.findall(text):
        if not os.path.exists(os.path.join(ROOT, path)):
            yield path
    for name in SOURCE.findall(text):
        if name not in names:
            yield name
    for suite in SUITE.findall(text):
        # A folder of several suites has such a name, too.
        if f"{suite}.swift" not in names and not os.path.isdir(os.path.join(ROOT, "Tests", suite)):
            yield suite


def main():
    files = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], check=True, capture_output=True, text=True).stdout.split("\0")
    names = {os.path.basename(file) for file in files}
    documents = [file for file in files if file.endswith(".md")]
    gone = [(document, name) for document in documents for name in missing(document, names)]
    for document, name in gone:
        print(f"{document} names {name}, which is not there", file=sys.stderr)
    if len(documents) < 30:
        sys.exit(f"only {len(documents)} documents were found")
    sys.exit(1 if gone else 0)


main()
