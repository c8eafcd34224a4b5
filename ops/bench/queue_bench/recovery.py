"""Goal row 6: from the SIGKILL of a worker to the next start of the job that it held."""

import concurrent.futures

import server
import table


def measure(systems, seconds_max):
    def once(system):
        with server.Server() as redis:
            return system.recover(redis, seconds_max)

    # Nearly all of it is waiting, so all wait together.
    with concurrent.futures.ThreadPoolExecutor(len(systems)) as pool:
        found = list(pool.map(once, systems))
    table.show(
        f"A worker is killed (SIGKILL) over a job; another works on (waited for at most {seconds_max} s)",
        [("seconds", 1, "less"), ("its rule and default", 0, None)],
        {
            system.name: (value if value is not None else f"> {seconds_max}", system.recovery)
            for system, value in zip(systems, found)
        },
    )
