"""The jobs of RQ and arq: a module of its own, because RQ takes none from a program's main module."""


def nothing():
    """The job of RQ."""


async def nothing_async(_):
    """The job of arq."""
