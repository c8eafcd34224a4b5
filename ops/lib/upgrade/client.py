"""A client of the gateway that sends jobs all the while, whichever gateway is there."""

import http.client
import threading
import time

PACE = 0.25  # seconds from one job to the next
AGAIN = 0.1  # seconds until it asks again where no gateway is
ACCEPTED_SECONDS_MAX = 120


class Client(threading.Thread):
    """Sends each job again under its id until a gateway has accepted it, as clients that lost an answer do."""

    def __init__(self, rig):
        super().__init__(daemon=True)
        self.rig, self.over = rig, threading.Event()
        self.accepted = {}  # job → asset
        self.asked_again, self.fault = 0, None

    def run(self):
        number = 0
        try:
            while not self.over.wait(PACE):
                self.send(f"order-{number}")
                number += 1
        except Exception as error:  # told by `stop`, in the thread that judges
            self.fault = error

    def send(self, job):
        asset = self.rig.photo(job)
        deadline = time.monotonic() + ACCEPTED_SECONDS_MAX
        while True:
            try:
                self.accepted[self.rig.promises.send(job, asset)] = asset
                return
            except (OSError, http.client.HTTPException):
                if time.monotonic() > deadline:
                    raise
                self.asked_again += 1
                time.sleep(AGAIN)

    def stop(self):
        """Ends it; gives the jobs that were accepted."""
        self.over.set()
        self.join(ACCEPTED_SECONDS_MAX)
        if self.fault or self.is_alive():
            raise AssertionError(f"a client of the gateway was not served: {self.fault or 'it still waits'}")
        return self.accepted
