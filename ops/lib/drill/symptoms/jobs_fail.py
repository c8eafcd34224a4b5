"""Jobs came before their photos were uploaded."""

SEE = "dead grows"
SHORT = True


def drill(site):
    site.worker()
    site.photo("there.png")
    site.send("there", "there.png")
    late = ["late-0", "late-1"]
    for job in late:
        site.send(job, f"{job}.png")

    site.see("minilab status", r"dead +2")
    site.see("minilab dead", "missingAsset")
    site.see("minilab status JOB", "missingAsset", JOB=late[0])

    site.does("`ls` the original on the worker's machine", "it was not there; now it is uploaded")
    for job in late:
        site.photo(f"{job}.png")
    site.see("minilab replay --code noSpace --since 2h --dry-run", "2", noSpace="missingAsset")
    site.run("minilab replay --code noSpace --since 2h --rate 50", noSpace="missingAsset")
    site.is_well(completed=1 + len(late))
