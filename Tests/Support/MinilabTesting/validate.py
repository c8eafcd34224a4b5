"""Validates JSON texts against a schema in jobs/, with a validator that knows nothing of Minilab.

usage: validate.py SCHEMA < texts.json

Standard input is a JSON array of texts. Prints a JSON array with one entry per text: null when the
schema accepts it, else the reason.
"""

import json
import pathlib
import sys

import jsonschema

folder = pathlib.Path(sys.argv[1]).resolve()
schema = json.loads(folder.read_text())
jsonschema.Draft202012Validator.check_schema(schema)
# The schemas name each other by file name, so that any tool finds them beside each other.
resolver = jsonschema.RefResolver(folder.as_uri(), schema)
validator = jsonschema.Draft202012Validator(
    schema, resolver=resolver, format_checker=jsonschema.FormatChecker()
)


def reason(text):
    try:
        error = jsonschema.exceptions.best_match(validator.iter_errors(json.loads(text)))
    except ValueError as broken:
        return f"not JSON: {broken}"
    return None if error is None else f"{error.json_path}: {error.message}"


json.dump([reason(text) for text in json.load(sys.stdin)], sys.stdout)
