"""An operator's terminal: runs commands of the runbook, and shows what they print."""

import os
import re
import shlex
import subprocess

from processes import eventually

COMMAND_SECONDS_MAX = 120
SEEN_SECONDS_MAX = 60
SHOWN_LINES_MAX = 6
SHOWN_COLUMNS_MAX = 160
# What the runbook writes for "with the address and the login of Redis".
LOGIN = ' -u "$MINILAB_REDIS" --user "$MINILAB_REDIS_USER"'

JOURNALCTL = """#!/bin/sh
# The journal of one unit of the drill: journalctl -u UNIT [-n LINES] [-o cat]
lines=+1
while [ $# -gt 0 ]; do
    case "$1" in
    -u) unit=$2 ;;
    -n) lines=$2 ;;
    esac
    shift 2
done
exec tail -n "$lines" "$DRILL_JOURNALS/$unit.log"
"""
REDIS_CLI = """#!/bin/sh
exec /usr/bin/redis-cli -p "$DRILL_REDIS_PORT" "$@"
"""


class Refused(AssertionError):
    """The drill did what the runbook does not say, or the runbook's words did not work."""


class Console:
    """words: all that the runbook says for this symptom; units: name → Unit, for systemctl."""

    def __init__(self, folder, words, units, environment, admin_password):
        self.words, self.units, self.admin_password = " ".join(words.split()), units, admin_password
        shims = f"{folder}/shims"
        os.makedirs(shims)
        for name, text in [("journalctl", JOURNALCTL), ("redis-cli", REDIS_CLI)]:
            with open(f"{shims}/{name}", "w") as file:
                file.write(text)
            os.chmod(f"{shims}/{name}", 0o755)
        self.environment = {**os.environ, **environment, "PATH": f"{shims}:{environment['PATH']}"}

    def check(self, phrase):
        if " ".join(phrase.split()) not in self.words:
            raise Refused(f"the runbook does not say {phrase!r} in the row or a chapter that it leads to")

    def does(self, phrase, here):
        """Says that something is done that the runbook puts in words, and how."""
        self.check(phrase)
        print(f"  · {phrase} ({here})", flush=True)

    def run(self, command, *more, fails=None, **names):
        """Runs a command of the runbook; gives what it prints.

        command: as it is in the runbook; more: options after it; names: what is put for its placeholders (JOB="one").
        fails: the exit code that it has to end with, where that is not 0.
        """
        code, said, line = self.attempt(command, more, names)
        show(line, said)
        if code != (fails or 0):
            raise Refused(f"{line} ended with {code}, and should have with {fails or 0}: {said[-1000:]}")
        return said

    def see(self, command, words, *more, within=SEEN_SECONDS_MAX, fails=None, **names):
        """Runs a command of the runbook until it prints these words (a pattern); gives what it printed then.

        fails: the exit code that it has to end with then, where that matters.
        """
        last = None

        def found():
            nonlocal last
            last = self.attempt(command, more, names)
            return re.search(words, last[1], re.M)
        try:
            eventually(words, found, within, every=0.1)
        except TimeoutError:
            raise Refused(f"{last[2]} does not print {words!r} within {within} s: {last[1][-1000:]}") from None
        show(last[2], last[1], words)
        if fails is not None and last[0] != fails:
            raise Refused(f"{last[2]} ended with {last[0]}, and should have with {fails}")
        return last[1]

    def attempt(self, command, more, names):
        self.check(command)
        line = command.replace("redis-cli …", "redis-cli" + LOGIN)
        for name, value in names.items():
            line = re.sub(rf"\b{name}\b(…)?", shlex.quote(value), line)
        line = " ".join([line, *map(shlex.quote, more)])
        if line.startswith("systemctl "):
            return 0, self.systemctl(*line.split()[1:]), line
        environment = dict(self.environment)
        if LOGIN in line:
            with open(environment["MINILAB_REDIS_PASSWORD_FILE"]) as file:
                environment["REDISCLI_AUTH"] = file.read()
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", line], env=environment, text=True, errors="replace",
            input=self.admin_password + "\n" if "--askpass" in line else "", stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, timeout=COMMAND_SECONDS_MAX)
        return done.returncode, done.stdout, line

    def systemctl(self, verb, name):
        unit = self.units[name]
        if verb == "status":
            return unit.status()
        {"start": unit.start, "stop": unit.stop, "restart": unit.restart}[verb]()
        return ""


def show(line, said, words=None):
    """Prints a command and its first lines, or from the line that the operator looks for."""
    print(f"  $ {line}", flush=True)
    lines = [text for text in said.splitlines() if text.strip()]
    first = next((at for at, text in enumerate(lines) if words and re.search(words, text)), 0)
    if first >= SHOWN_LINES_MAX:
        lines = lines[first:]
    # Of a journal the end is what matters.
    for text in lines[-SHOWN_LINES_MAX:] if "journalctl" in line and not words else lines[:SHOWN_LINES_MAX]:
        print(f"    {text[:SHOWN_COLUMNS_MAX]}", flush=True)
