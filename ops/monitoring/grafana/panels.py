"""The panels of the dashboard, in their order: the one list that ops/monitoring/grafana/make makes minilab.json of.

A query may use `$queue`, a choice of queues, and `$__rate_interval`, which Grafana makes of the interval of scrapes.
`empty` says why a query has no data on a machine where nothing is wrong; the others have to have some in
ops/monitoring/grafana/test_queries.py.
"""

import collections

Panel = collections.namedtuple("Panel", "title about kind unit queries empty", defaults=(None,))
Row = collections.namedtuple("Row", "title panels")


def stat(title, about, unit, query, empty=None):
    """One number, as it is now."""
    return Panel(title, about, "stat", unit, [(query, "")], empty)


def lines(title, about, unit, *queries, empty=None):
    """Lines over time; queries: (PromQL, what a line is called)."""
    return Panel(title, about, "timeseries", unit, list(queries), empty)


def jobs(state):
    return f'sum(queue_state:minilab_queue_jobs:max{{queue=~"$queue",state="{state}"}})'


ROWS = [
    Row("Now", [
        stat("Workers", "That were heard of lately.", "none", 'sum(max by (queue) (minilab_queue_workers{queue=~"$queue"}))'),
        stat("Waiting", "Incoming, in batches and ready.", "none",
             'sum(queue_state:minilab_queue_jobs:max{queue=~"$queue",state=~"incoming|lanes|ready"})'),
        stat("Work that waits", "Seconds of one slot, as the queue predicts them.", "s",
             'sum(queue:minilab_queue_work_seconds:max{queue=~"$queue"})'),
        stat("Stuck", "Rendered, and cannot be published: runbook, \"A job is stuck\".", "none", jobs("stuck")),
        stat("Dead", "Failed for good: runbook, \"Jobs fail\".", "none", jobs("dead")),
        stat("Paused", "1: somebody has paused the queue.", "none", 'max(minilab_queue_paused{queue=~"$queue"})'),
    ]),
    Row("Jobs", [
        lines("Where the jobs are", "Every worker tells the same, so it is the max over workers.", "none",
              ('queue_state:minilab_queue_jobs:max{queue=~"$queue"}', "{{queue}} {{state}}")),
        lines("What happens", "Events of the queue a second.", "ops",
              ('queue_event:minilab_queue_events:rate5m{queue=~"$queue"}', "{{queue}} {{event}}")),
        lines("How long jobs wait", "95 of 100 jobs are claimed within this time.", "s",
              ("all:minilab_queue_wait_seconds:p95_5m", "p95")),
        lines("How attempts end", "Attempts a second.", "ops", ("outcome_code:minilab_attempts:rate5m", "{{outcome}} {{code}}")),
    ]),
    Row("Renders", [
        lines("How long renders take", "95 of 100 renders take less.", "s",
              ("size_lane:minilab_render_seconds:p95_5m", "{{size}} {{lane}}")),
        lines("Processor time of a render", "The mean.", "s", ("all:minilab_render_cpu_seconds:mean5m", "mean")),
        lines("Cores that renders keep busy", "", "none",
              ("sum by (instance) (rate(minilab_render_cpu_seconds_total[$__rate_interval]))", "{{instance}}")),
        lines("How children end", "SIGSEGV and the like are decoders that crash; forbidden_call may be an attack.", "ops",
              ("sum by (cause) (rate(minilab_child_ends_total[$__rate_interval]))", "{{cause}}"),
              empty="children that render and live on have not ended"),
        lines("Formats that do not work", "0: this machine cannot write and read it.", "none",
              ("min by (instance, format) (minilab_format_works)", "{{instance}} {{format}}")),
    ]),
    Row("Workers", [
        lines("Slots in use", "Near 1 with jobs ready: more workers would help.", "percentunit",
              ("all:minilab_slots_busy:ratio", "of all slots")),
        lines("Ready", "1: the worker can take jobs.", "none", ("min by (instance) (minilab_ready)", "{{instance}}")),
        lines("Leases lost", "Jobs that another worker got meanwhile.", "ops",
              ("sum by (instance) (rate(minilab_leases_lost_total[$__rate_interval]))", "{{instance}}")),
        lines("Trouble with Redis", "Calls that failed because Redis did not accept or answer them.", "ops",
              ("sum by (instance, call) (rate(minilab_redis_failures_total[$__rate_interval]))", "{{instance}} {{call}}"),
              empty="Redis has answered every call"),
        lines("Store away", "1: the worker asks its store once a second and claims nothing.", "none",
              ("max by (instance) (minilab_store_away)", "{{instance}}")),
        lines("No children", "1: the machine starts no render child; the worker tries once a second and claims nothing.", "none",
              ("max by (instance) (minilab_children_unavailable)", "{{instance}}")),
        lines("Versions that run", "Two of them are a rollout, or a machine that was forgotten.", "none",
              ("count by (version) (minilab_build_info)", "{{version}}")),
    ]),
    Row("Memory", [
        lines("Memory that renders were granted", "Near 1 with renders that wait: memory is what limits.", "percentunit",
              ("all:minilab_memory_granted:ratio", "of the budget")),
        lines("Renders that wait for memory", "", "none", ("sum by (instance) (minilab_memory_waiting)", "{{instance}}")),
        lines("How long they wait", "95 of 100 wait less.", "s", ("all:minilab_memory_wait_seconds:p95_5m", "p95")),
        lines("Need against estimate", "95 of 100 renders use at most this share of what was set aside.", "percentunit",
              ("lane:minilab_render_memory_ratio:p95_1h", "{{lane}}")),
        lines("How short memory is", "0 not at all, 4 renders are handed back.", "none",
              ("max by (instance) (minilab_memory_pressure_level)", "{{instance}}")),
        lines("Renders beyond their estimate", "Within an hour.", "none",
              ("sum by (lane) (increase(minilab_render_memory_over_estimate_total[1h]))", "{{lane}}"),
              empty="every render kept to its estimate"),
    ]),
    Row("Gateway", [
        lines("Requests", "A second; 5xx are ours, 4xx the client's.", "reqps",
              ("sum by (code) (route_code:minilab_gateway_requests:rate5m)", "{{code}}")),
        lines("Share of 5xx", "", "percentunit", ("instance:minilab_gateway_errors:ratio5m", "{{instance}}")),
        lines("How long answers take", "99 of 100 begin within this time.", "s",
              ("route:minilab_gateway_request_seconds:p99_5m", "{{route}}")),
        lines("Bodies", "Bytes a second.", "Bps",
              ("sum(rate(minilab_gateway_received_bytes_total[$__rate_interval]))", "received"),
              ("sum(rate(minilab_gateway_sent_bytes_total[$__rate_interval]))", "sent")),
        lines("What is open", "", "none", ("sum(minilab_gateway_connections_open)", "connections"),
              ("sum(minilab_gateway_streams_open)", "streams of events"),
              ("sum(minilab_gateway_uploads_open)", "uploads"), ("sum(minilab_gateway_replays_running)", "replays")),
        lines("Turned away", "Guesses at the sign-in page; answers with 429.", "ops",
              ("sum(rate(minilab_gateway_sign_ins_refused_total[$__rate_interval]))", "sign-ins refused"),
              ("sum(rate(minilab_gateway_rate_limited_total[$__rate_interval]))", "429")),
        lines("Shares that are used up", "Calls that were refused because their tenant has its share: runbook, \"Too many streams are open\".", "ops",
              ("sum by (of) (rate(minilab_gateway_share_refused_total[$__rate_interval]))", "{{of}}"),
              ("sum(rate(minilab_gateway_connections_replaced_total[$__rate_interval]))", "connections that were replaced")),
        lines("Gateways that are ready", "", "none", ("sum by (instance) (minilab_gateway_ready)", "{{instance}}")),
    ]),
    Row("Webhooks", [
        lines("How far behind", "The last endpoint against the newest event.", "s", ("max(minilab_gateway_webhook_lag_seconds)", "behind")),
        lines("Deliveries", "A second.", "ops",
              ("sum(rate(minilab_gateway_webhook_delivered_total[$__rate_interval]))", "taken"),
              ("sum(rate(minilab_gateway_webhook_failed_total[$__rate_interval]))", "tries that failed")),
        lines("Endpoints", "", "none", ("max(minilab_gateway_webhook_endpoints_active)", "active"),
              ("max(minilab_gateway_webhook_endpoints_disabled)", "disabled"), ("max(minilab_gateway_webhook_parked)", "messages parked")),
    ]),
]
