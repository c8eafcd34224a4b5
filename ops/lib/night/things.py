"""What a night runs: each thing, its limit, and the files that it judges."""

from __future__ import annotations

from dataclasses import dataclass

SOURCES = ["Sources", "Package.swift"]


@dataclass(frozen=True)
class Thing:
    """One thing to run: a line of shell, its limit, and what of its output is the figure of the table."""

    name: str
    what: str
    command: str
    minutes: int
    judges: tuple[str, ...] = ()  # beside the sources
    figure: str = r"(.+)"
    parts: str = ""  # as in receipts.checks: of a thing that may leave out some of itself

    @property
    def receipt(self) -> str:
        return f"night-{self.name}"

    @property
    def covers(self) -> list[str]:
        return [*SOURCES, *self.judges]


# The first ones matter most, if the hours do not suffice.
THINGS = [
    Thing("tests", "ops/test with the whole volumes, both renderers", "MINILAB_NIGHT=1 ops/test", 90,
          ("Tests", "jobs", "ops/test", "ops/lib/test"), r"^(\d+ passed, \d+ failed)"),
    Thing("drills", "all drills of the runbook", "ops/drill", 15, ("ops/drill", "ops/lib/drill", "ops/RUNBOOK.md"), r"^(\d+ drills in .*)"),
    Thing("flows", "all flows of the dashboard, and the README's pictures", "ops/setup browser && ops/browser", 20,
          ("ops/browser", "ops/lib/browser"), r"^(browser: .*)"),
    Thing(
        "chaos", "all scenarios of CHAOS.md, its storm of cuts with 10,000 edits",
        "ops/setup chaos && MINILAB_CHAOS_STORM_EDITS=10000 ops/chaos", 80,
        ("ops/chaos", "ops/lib/chaos", "ops/redis.conf", "ops/redis-users.conf", "ops/deploy/secrets"), r"^chaos: (\d+ scenarios.*)",
        r"^chaos: (?P<all>\d+) scenarios, .* (?P<left_out>\d+) skipped",
    ),
    Thing(
        "baseline", "ops/quickstart with the renderer for any x86-64: the same bytes",
        'rm -rf .build-night/baseline && MINILAB_RENDER_EXECUTABLE="$MINILAB_BIN/minilab-render" ops/quickstart '
        "--state .build-night/baseline --json >.build-night/baseline.json && "
        "ops/checks/quickstart-pictures .build-night/baseline .build-night/baseline.json", 10,
        ("jobs", "ops/quickstart", "ops/checks/quickstart-pictures"), r"^quickstart: (.*)",
    ),
    Thing("bucket", "ops/quickstart with the library in a bucket",
          "rm -rf .build-night/bucket && ops/quickstart --library s3 --state .build-night/bucket", 10, ("jobs", "ops/quickstart", "ops/lib/object-store"), r"^(\d+ done, \d+ failed)"),
    Thing("hostile", "5,000 harmed files through render children", "ops/hostile --count 5000", 30,
          ("Tests/Fixtures", "ops/hostile", "ops/lib/hostile"), r"^(Slowest: .*)"),
    Thing("soak", "20,000 photos through one worker: does it grow?", "ops/soak", 40, ("ops/soak", "ops/lib/soak")),
    Thing("schemathesis", "the gateway beside its OpenAPI document", "ops/checks/schemathesis --seconds 120", 6,
          ("ops/checks/schemathesis", "ops/checks/schemathesis.toml", "ops/checks/schemathesis_hooks.py")),
    Thing("chromium", "the CSS filters beside a browser's", "ops/setup bench && ops/setup browser && ops/checks/compare-chromium", 10,
          ("ops/checks/compare-chromium",)),
    Thing("fuzz", "libFuzzer, a minute for each entry point", "ops/fuzz", 45, ("ops/fuzz", "ops/lib/fuzz", "Tests/Support/EntryPoints")),
    # Last: it changes files of this tree, and puts them back.
    Thing("mutants", "mistakes in the pure decisions, found by tests", "ops/mutate", 60, ("Tests", "ops/mutate", "ops/lib/mutate"),
          r"^mutate: (\d+ of \d+ mistakes found.*)"),
]  # fmt: skip
