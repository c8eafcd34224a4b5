"""A producer trims the stream that it writes to; the entries that nobody had read are gone."""

from resp import RedisError

SEE = "`stream.harmed`, or `trimmed` or `renewed` in `minilab status`"


def drill(site):
    jobs = [f"job-{number}" for number in range(4)]
    for number, job in enumerate(jobs):
        site.photo(f"{job}.png", seed=number)
        site.send(job, f"{job}.png", trim=("MAXLEN", "1") if job == jobs[-1] else ())
    site.worker()

    site.see("minilab status", r"total trimmed +3")
    site.see("minilab events --json | grep stream.harmed", "3")

    site.run("redis-cli --user admin --askpass client list")
    site.run("redis-cli --user admin --askpass acl setuser NAME off", NAME="producer")
    try:
        site.send(jobs[0], f"{jobs[0]}.png")
        raise AssertionError("a user that is off was let in")
    except RedisError as error:
        print(f"  the producer is told: {error}")
    site.does("Let producers send again all that they were not told to have ended", "the same ids, as a user in order")
    site.redis("ACL", "SETUSER", "producer", "on")
    for job in jobs:
        site.send(job, f"{job}.png")
    site.is_well(completed=len(jobs))
