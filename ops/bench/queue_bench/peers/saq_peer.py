"""SAQ with 100 jobs at once; its default of 10 is slower here."""

import asyncio
import time

import jobs
import program
import redis.asyncio
from saq import Worker
from saq.queue.redis import RedisQueue

JOBS_AT_ONCE = 100
ATTEMPTS = 2  # its default of 1 gives a job up whose worker died


async def edit(_, *, asset, recipe):
    await jobs.edit_async(asset, recipe)


async def stamp(_, *, argument):
    await jobs.stamp_async(argument)


async def hang(_, *, argument):
    await jobs.hang_async(argument)


def queue_at(socket):
    return RedisQueue(redis.asyncio.Redis(unix_socket_path=socket))


def enqueue(socket, payloads):
    async def all_of_them():
        queue = queue_at(socket)
        # It has no bulk call; it lets 20 calls run at once.
        for chunk in program.chunks(payloads):
            await asyncio.gather(*[queue.enqueue("edit", asset=asset, recipe=recipe) for asset, recipe in chunk])
        await queue.disconnect()

    asyncio.run(all_of_them())


def work(socket, count):
    async def until_done():
        end = None
        queue = queue_at(socket)

        def stop():
            nonlocal end
            end = time.perf_counter()
            worker.event.set()

        one_less = jobs.count_async(stop, count)

        async def ended(_):
            one_less()

        after = {} if count is None else {"after_process": ended}
        worker = Worker(queue, [edit, stamp, hang], concurrency=JOBS_AT_ONCE, **after)
        await worker.start()
        await queue.disconnect()
        return end

    return asyncio.run(until_done())


def sender(socket):
    loop = asyncio.new_event_loop()
    queue = queue_at(socket)
    return lambda name, argument: loop.run_until_complete(queue.enqueue(name, argument=argument, retries=ATTEMPTS))


if __name__ == "__main__":
    program.main(enqueue, work, sender)
