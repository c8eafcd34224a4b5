"""All flows, in the order in which they run. Each is a function of a new stage and the browser."""

import assets
import jobs
import keys
import live
import plain
import provider
import strangers

ALL = [*keys.FLOWS, *provider.FLOWS, *jobs.FLOWS, *assets.FLOWS, *live.FLOWS, *plain.FLOWS, *strangers.FLOWS]
