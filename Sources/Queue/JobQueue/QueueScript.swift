import Redis

/// The Lua scripts: each state transition of a job is one of them. `Scripts/Shared/base.lua` explains the keys.
enum QueueScript {
    static let admit = script("admit", PackageResources.admit_lua)
    static let submit = script("submit", PackageResources.submit_lua)
    static let submitBatch = script("submit_batch", PackageResources.submit_batch_lua)
    static let feed = script("feed", PackageResources.feed_lua)
    static let append = script("append", PackageResources.append_lua)
    static let promote = script("promote", PackageResources.promote_lua, drains: true)
    static let claim = script("claim", PackageResources.claim_lua, drains: true)
    static let beat = script("beat", PackageResources.beat_lua, drains: true)
    static let pardon = script("pardon", PackageResources.pardon_lua, drains: true)
    static let split = script("split", PackageResources.split_lua)
    static let claimPart = script("claim_part", PackageResources.claim_part_lua, drains: true)
    static let commit = script("commit", PackageResources.commit_lua, drains: true)
    static let preview = script("preview", PackageResources.preview_lua)
    static let conclude = script("conclude", PackageResources.conclude_lua, drains: true)
    static let finalize = script("finalize", PackageResources.finalize_lua, drains: true)
    static let handOn = script("hand_on", PackageResources.hand_on_lua, drains: true)
    static let fail = script("fail", PackageResources.fail_lua, drains: true)
    static let passOn = script("pass_on", PackageResources.pass_on_lua, drains: true)
    static let joinLibrary = script(
        "join_library", PackageResources.join_library_lua, drains: true)
    static let release = script("release", PackageResources.release_lua, drains: true)
    static let reap = script("reap", PackageResources.reap_lua, drains: true)
    static let claimDuty = script("claim_duty", PackageResources.claim_duty_lua, drains: true)
    static let tend = script("tend", PackageResources.tend_lua, drains: true)
    static let replay = script("replay", PackageResources.replay_lua, drains: true)
    static let restore = script("restore", PackageResources.restore_lua, drains: true)
    static let removeDead = script("remove_dead", PackageResources.remove_dead_lua, drains: true)
    static let cancel = script("cancel", PackageResources.cancel_lua, drains: true)
    static let cancelBatch = script("cancel_batch", PackageResources.cancel_batch_lua, drains: true)
    static let configure = script("configure", PackageResources.configure_lua, drains: true)
    static let explain = script("explain", PackageResources.explain_lua, drains: true)
    static let census = script("census", PackageResources.census_lua, drains: true)
    static let inspect = script("inspect", PackageResources.inspect_lua, drains: true)
    static let inspectFlows = script(
        "inspect_flows", PackageResources.inspect_flows_lua, drains: true)
    static let inspectGroups = script(
        "inspect_groups", PackageResources.inspect_groups_lua, drains: true)
    static let inspectTimes = script(
        "inspect_times", PackageResources.inspect_times_lua, drains: true)
    static let inspectStored = script(
        "inspect_stored", PackageResources.inspect_stored_lua, drains: true)
    static let inspectBatch = script(
        "inspect_batch", PackageResources.inspect_batch_lua, drains: true)

    /// The texts that scripts share, ordered so that each file uses only names of earlier files.
    static let shared: [[UInt8]] = [
        PackageResources.base_lua,
        PackageResources.stored_lua,
        PackageResources.clock_lua,
        PackageResources.queue_time_lua,
        PackageResources.ages_lua,
        PackageResources.waits_lua,
        PackageResources.events_lua,
        PackageResources.pushed_out_lua,
        PackageResources.flows_lua,
        PackageResources.waking_lua,
        PackageResources.admission_signal_lua,
        PackageResources.control_lua,
        PackageResources.parts_lua,
        PackageResources.weighing_lua,
        PackageResources.costs_lua,
        PackageResources.batches_lua,
        PackageResources.dead_groups_lua,
        PackageResources.jobs_lua,
        PackageResources.characters_lua,
        PackageResources.stuck_lua,
        PackageResources.entries_lua,
        PackageResources.dead_members_lua,
        PackageResources.creating_jobs_lua,
        PackageResources.faults_lua,
        PackageResources.streams_lua,
        PackageResources.ingress_lua,
        PackageResources.batch_streams_lua,
        PackageResources.names_lua,
        PackageResources.ownerless_lua,
        PackageResources.members_lua,
        PackageResources.idle_checks_lua,
        PackageResources.opening_lua,
        PackageResources.unopened_lua,
        PackageResources.reopening_lua,
        PackageResources.reading_lua,
        PackageResources.arrival_lua,
        PackageResources.doors_lua,
        PackageResources.reservations_lua,
        PackageResources.earlier_lua,
        PackageResources.ahead_lua,
        PackageResources.unable_lua,
    ]

    /// - Parameter drains: Whether the script runs when Redis is at `maxmemory`. Scripts that end jobs must run then; scripts that
    ///   accept new jobs must not. Redis reads the flag from the first line (Redis 7.0 and newer).
    static func script(_ name: String, _ text: [UInt8], drains: Bool = false) -> RedisScript {
        let body = String(decoding: text, as: UTF8.self)
        return RedisScript(
            name: name,
            source: (drains ? "#!lua flags=allow-oom\n" : "#!lua\n")
                + ScriptLinker.linked(body))
    }
}
