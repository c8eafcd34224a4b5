"""A batch of thousands was sent by mistake; it is cancelled at once, and the others' work goes on."""

import time

SEE = "somebody sent a million jobs by mistake"
MEMBERS = 5_000
CANCEL_SECONDS_MAX = 20


def drill(site):
    site.worker()
    site.photo("wanted.png")
    file = f"{site.folder}/mistake.ndjson"
    with open(file, "w") as lines:
        lines.writelines(f'{{"asset":"mistake-{number}.png"}}\n' for number in range(MEMBERS))
    # Their photos are not there: each that is begun dies.
    code, said = site.minilab("enqueue", "--file", file, "--batch", "mistake", "--filter", "CISepiaTone")
    assert code == 0, said

    site.see("minilab top", r"in batches [1-9]", "--once")
    site.see("minilab batch", "mistake")
    began = time.monotonic()
    site.run("minilab cancel --batch ID", ID="mistake")
    site.send("wanted", "wanted.png")
    site.wait_for_counter("completed", 1)
    took = time.monotonic() - began
    assert took < CANCEL_SECONDS_MAX, f"the next job was done {took:.0f} s after the cancel"

    dead = site.state()["dead"]
    print(f"  ✓ {MEMBERS - dead} of {MEMBERS} never began; the next job was done {took:.1f} s after the cancel")
    site.is_well(completed=1, dead=dead)
