"""RQ with SimpleWorker; its default Worker forks for each job, which no other peer does."""

import logging

import program
import redis
import rq


def queue_at(socket):
    return rq.Queue(connection=redis.Redis(unix_socket_path=socket))


def enqueue(socket, payloads):
    queue = queue_at(socket)
    for chunk in program.chunks(payloads):
        queue.enqueue_many([rq.Queue.prepare_data("jobs.edit", args=payload) for payload in chunk])


def work(socket, jobs):
    logging.getLogger("rq").setLevel(logging.ERROR)
    queue = queue_at(socket)
    worker = rq.SimpleWorker([queue], connection=queue.connection)
    worker.work(burst=jobs is not None, logging_level="ERROR")


def sender(socket):
    queue = queue_at(socket)
    # Without a retry RQ fails a job whose worker died.
    return lambda name, argument: queue.enqueue(f"jobs.{name}", argument, retry=rq.Retry(max=1))


if __name__ == "__main__":
    program.main(enqueue, work, sender)
