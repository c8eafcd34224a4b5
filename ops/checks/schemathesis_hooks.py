"""What schemathesis needs to be told: how JSON, one document a line, is written; filters that it can make."""

import schemathesis
from schemathesis.engine import observations

_same_origin_path = observations._same_origin_path


def _tolerant(value, origin):
    """A text of an answer that looks like a URL and is none ends schemathesis 4.32.5."""
    try:
        return _same_origin_path(value, origin)
    except ValueError:
        return None


observations._same_origin_path = _tolerant


@schemathesis.serializer("application/x-ndjson")
def lines(context, value):
    if isinstance(value, bytes):
        return value
    return str(value).encode("utf-8", "surrogatepass")
