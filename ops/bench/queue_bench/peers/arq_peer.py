"""arq with 100 jobs at once; its default of 10 is slower here."""

import asyncio
import logging

import arq
import jobs
import program
from arq.connections import RedisSettings

JOBS_AT_ONCE = 100


async def edit(_, asset, recipe):
    await jobs.edit_async(asset, recipe)


async def stamp(_, sent):
    await jobs.stamp_async(sent)


async def hang(_, ledger):
    await jobs.hang_async(ledger)


def enqueue(socket, payloads):
    async def all_of_them():
        pool = await arq.create_pool(RedisSettings(unix_socket_path=socket))
        # It has no bulk call.
        for chunk in program.chunks(payloads):
            await asyncio.gather(*[pool.enqueue_job("edit", *payload) for payload in chunk])
        await pool.aclose()

    asyncio.run(all_of_them())


def work(socket, count):
    logging.getLogger("arq").setLevel(logging.ERROR)
    asyncio.set_event_loop(asyncio.new_event_loop())  # arq asks for the thread's
    settings = RedisSettings(unix_socket_path=socket)
    # In a burst the wait between two looks is time lost at the end only; else it is arq's default.
    patience = {} if count is None else {"poll_delay": 0.01}
    arq.Worker(
        [edit, stamp, hang], redis_settings=settings, burst=count is not None, max_jobs=JOBS_AT_ONCE, **patience
    ).run()


def sender(socket):
    loop = asyncio.new_event_loop()
    pool = loop.run_until_complete(arq.create_pool(RedisSettings(unix_socket_path=socket)))
    return lambda name, argument: loop.run_until_complete(pool.enqueue_job(name, argument))


if __name__ == "__main__":
    program.main(enqueue, work, sender)
