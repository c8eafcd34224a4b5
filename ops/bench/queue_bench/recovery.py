"""Goal row 6: from the SIGKILL of a worker to the next start of the job that it held."""

import concurrent.futures

import rounds
import server
import table


def measure(systems, seconds_max):
    def once(system):
        with server.Server() as redis:
            return system.recover(redis, seconds_max)

    # Nearly all of it is waiting, so all wait together.
    with concurrent.futures.ThreadPoolExecutor(len(systems)) as pool:
        waits = {system.name: pool.submit(once, system) for system in systems}
    found = rounds.without_failures(systems, lambda system: waits[system.name].result())
    table.show(
        f"A worker is killed (SIGKILL) over a job; another works on (waited for at most {seconds_max} s)",
        [("seconds", 1, "less"), ("its rule and default", 0, None)],
        {
            system.name: (shown(found[system.name], seconds_max), system.recovery)
            for system in systems
            if system.name in found
        },
    )


def shown(seconds, seconds_max):
    return f"> {seconds_max}" if seconds is None else seconds
