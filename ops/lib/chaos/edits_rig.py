"""A rig that sends edits of all modes, and knows what they come to when each is done once and in order."""

import collections

from photo_rig import PhotoRig


class EditsRig(PhotoRig):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.edits_of = collections.defaultdict(list)  # asset → its edits after the first, in order

    def change(self, asset, edit):
        """Sends a job as `edit` does, and remembers it for `filters_expected`."""
        self.edits_of[asset].append(edit)
        return self.edit(asset, edit)

    def wrong_filters(self):
        """Where the numbers of filters that the events tell of are not those of the edits, each done once, in order."""
        told = collections.defaultdict(list)
        for event in self.events():
            if event["type"].endswith((".job.completed", ".job.drafted")):
                told[self.assets[event["data"]["job"]]].append(event["data"])
        for asset, edits in self.edits_of.items():
            numbers = {data["job"]: len(data["filters"] or []) for data in told[asset]}
            jobs = [job for job, other in self.assets.items() if other == asset and job in self.edits]
            seen, expected = [numbers.get(job) for job in jobs], filters_expected(edits)
            if seen != expected:
                yield f"{asset} came by {seen} filters, expected {expected}"


def filters_expected(edits, before=(1,)):
    """How many filters each of an asset's versions has: the model that the library is compared with.

    before: those of the versions that it has already; `send` has made one of one filter.
    """
    states, undone, draft, numbers = list(before), [], 0, []
    for edit in edits:
        top = states[-1] if states else 0
        count = len(edit.get("filters", []))
        mode = edit.get("mode", "replace")
        if mode == "undo":
            undone.append(states.pop())
            numbers.append(states[-1] if states else 0)
            continue
        if mode == "redo":
            states.append(undone.pop())
        elif mode == "publish":
            states.append(draft)
        else:
            made = count + (top if mode == "append" else 0)
            if edit.get("draft"):
                draft = made
                numbers.append(made)
                continue
            states.append(made)
        if mode != "redo":
            undone = []
        numbers.append(states[-1])
    return numbers
