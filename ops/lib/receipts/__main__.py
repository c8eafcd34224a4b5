"""The receipts of the long checks.

usage: ops/check --receipts
       python3 ops/lib/receipts --brief
       python3 ops/lib/receipts record NAME -- COMMAND...
       python3 ops/lib/receipts refuse [NAME]...

Without words it says what each receipt is worth now: fresh (passed, and the files that it judges and the libraries are the same),
stale, failed or missing; --brief: in one line. `record` runs a command and leaves the receipt NAME. `refuse` ends with 1 and names
each receipt that is not fresh, NAMEs excepted: a release needs all others.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tidy_end  # noqa: E402
from receipts.checks import checks  # noqa: E402
from receipts.receipt import FRESH, State, WrongReceipt, libraries_here, state, summary, system_here  # noqa: E402
from receipts.recorder import record  # noqa: E402
from receipts.repository import Repository  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]


def states() -> list[State]:
    repository, libraries, system = Repository(ROOT), libraries_here(), system_here()
    return [state(check, repository, libraries, system) for check in checks().values()]


def show(found: list[State]) -> None:
    for each in found:
        receipt = each.receipt
        seen = f"{receipt.date[:10]}, {receipt.seconds:,} s, {receipt.commit[:8]}" if receipt else each.check.command
        print(f"{each.kind:8} {each.check.name:24} {seen}{f' ({each.why})' if each.why else ''}")
    seconds = sum(each.receipt.seconds for each in found if each.receipt)
    print(f"receipts: {summary(found)}; together they took {seconds / 3600:.1f} hours")


def refuse(found: list[State], excepted: list[str]) -> int:
    wrong = [each for each in found if each.kind != FRESH and each.check.name not in excepted]
    for each in wrong:
        print(f"receipts: {each.check.name} is {each.kind}{f' ({each.why})' if each.why else ''}: {each.check.command}", file=sys.stderr)
    return 1 if wrong else 0


def main(words: list[str]) -> int:
    known = checks()
    names = words[1:2] if words[:1] == ["record"] else words[1:] if words[:1] == ["refuse"] else []
    for name in names:
        if name not in known:
            print(f"receipts: {name} is no receipt; there are: {', '.join(known)}", file=sys.stderr)
            return 64
    try:
        if words in (["-h"], ["--help"]):
            print(__doc__)
        elif not words:
            show(states())
        elif words == ["--brief"]:
            print(f"{summary(states())}")
        elif words[0] == "refuse":
            return refuse(states(), names)
        elif len(words) > 3 and words[0] == "record" and words[2] == "--":
            tidy_end.on_signals()
            return record(known[words[1]], words[3:], ROOT).status
        else:
            print(__doc__, file=sys.stderr)
            return 64
    except WrongReceipt as wrong:
        sys.exit(f"receipts: {wrong}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
