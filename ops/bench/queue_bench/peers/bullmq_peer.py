"""BullMQ's Python port with 100 jobs at once; its default of 1 is slower here."""

import asyncio
import time

import jobs
import program
from bullmq import Queue, Worker

JOBS_AT_ONCE = 100
NAME = "edits"


def options(socket):
    return {"connection": f"unix://{socket}"}


def enqueue(socket, payloads):
    async def all_of_them():
        queue = Queue(NAME, options(socket))
        for chunk in program.chunks(payloads):
            await queue.addBulk(
                [{"name": "edit", "data": {"asset": asset, "recipe": recipe}, "opts": {}} for asset, recipe in chunk]
            )
        await queue.close()

    asyncio.run(all_of_them())


async def process(job, _):
    if job.name == "edit":
        await jobs.edit_async(job.data["asset"], job.data["recipe"])
    elif job.name == "stamp":
        await jobs.stamp_async(job.data["argument"])
    else:
        await jobs.hang_async(job.data["argument"])


def work(socket, count):
    async def until_done():
        done = asyncio.Event()
        worker = Worker(NAME, process, options(socket) | {"concurrency": JOBS_AT_ONCE, "autorun": False})
        if count is not None:
            worker.on("completed", jobs.count_async(done.set, count))
        running = asyncio.ensure_future(worker.run())
        await asyncio.wait([running, asyncio.ensure_future(done.wait())], return_when=asyncio.FIRST_COMPLETED)
        end = time.perf_counter()
        await worker.close()
        return end

    return asyncio.run(until_done())


def sender(socket):
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    queue = Queue(NAME, options(socket))
    return lambda name, argument: loop.run_until_complete(queue.add(name, {"argument": argument}, {}))


if __name__ == "__main__":
    program.main(enqueue, work, sender)
