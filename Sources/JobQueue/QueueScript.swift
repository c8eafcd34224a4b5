import Redis

/// The Lua scripts: each state change of a job is one of them. `Scripts/Shared/base.lua` explains the keys.
enum QueueScript {
    static let admit = script(
        "admit", PackageResources.admit_lua,
        ending + [
            .characters, .entries, .control, .burying, .taking, .reading, .streams, .ingress,
            .names, .ownerless, .looking, .arrival, .doors, .ahead,
        ])
    static let feed = script(
        "feed", PackageResources.feed_lua,
        ending + [
            .characters, .entries, .control, .burying, .taking, .reading, .streams, .lanes,
            .looking, .arrival,
        ])
    static let append = script("append", PackageResources.append_lua, [.clock, .names, .looking])
    static let claim = script("claim", PackageResources.claim_lua, ending, drains: true)
    static let beat = script("beat", PackageResources.beat_lua, [.clock], drains: true)
    static let pardon = script("pardon", PackageResources.pardon_lua, ending, drains: true)
    static let commit = script("commit", PackageResources.commit_lua, [], drains: true)
    static let preview = script("preview", PackageResources.preview_lua, [.clock, .events])
    static let conclude = script("conclude", PackageResources.conclude_lua, ending, drains: true)
    static let finalize = script(
        "finalize", PackageResources.finalize_lua, ending + [.stuck], drains: true)
    static let handOn = script(
        "hand_on", PackageResources.hand_on_lua, ending + [.stuck], drains: true)
    static let fail = script("fail", PackageResources.fail_lua, ending, drains: true)
    static let release = script("release", PackageResources.release_lua, ending, drains: true)
    static let reap = script(
        "reap", PackageResources.reap_lua, ending + [.stuck, .ownerless], drains: true)
    static let tend = script(
        "tend", PackageResources.tend_lua,
        [.clock, .events, .flows, .batches, .streams, .ownerless, .unopened, .looking],
        drains: true)
    static let replay = script(
        "replay", PackageResources.replay_lua, ending + [.stuck, .reopening])
    static let restore = script(
        "restore", PackageResources.restore_lua,
        ending + [.control, .burying, .taking, .reopening])
    static let dropDead = script(
        "drop_dead", PackageResources.drop_dead_lua, ending + [.burying], drains: true)
    static let cancel = script(
        "cancel", PackageResources.cancel_lua, ending + [.control], drains: true)
    static let cancelBatch = script(
        "cancel_batch", PackageResources.cancel_batch_lua, ending + [.control], drains: true)
    static let configure = script(
        "configure", PackageResources.configure_lua, [.clock, .flows, .control], drains: true)
    static let explain = script(
        "explain", PackageResources.explain_lua, [.clock, .flows, .doors], drains: true)
    static let census = script("census", PackageResources.census_lua, [.flows], drains: true)
    static let inspect = script(
        "inspect", PackageResources.inspect_lua, ending + [.stuck, .faults], drains: true)
    static let inspectFlows = script(
        "inspect_flows", PackageResources.inspect_flows_lua, ending + [.faults], drains: true)
    static let inspectBatch = script(
        "inspect_batch", PackageResources.inspect_batch_lua,
        ending + [.faults, .streams, .names, .ownerless, .unopened], drains: true)

    /// What several scripts share, in the order in which it is put together. A script gets what it needs and
    /// no more: each function costs a closure per call.
    enum Part: Int {
        case clock, events, flows, batches, jobs, characters, stuck, entries, control, taking,
            faults,
            streams, ingress, lanes, names, ownerless, looking, unopened,
            burying, reopening, reading, arrival, doors, ahead

        var source: [UInt8] {
            switch self {
            case .clock: PackageResources.clock_lua
            case .events: PackageResources.events_lua
            case .flows: PackageResources.flows_lua
            case .batches: PackageResources.batches_lua
            case .jobs: PackageResources.jobs_lua
            case .characters: PackageResources.characters_lua
            case .stuck: PackageResources.stuck_lua
            case .entries: PackageResources.entries_lua
            case .control: PackageResources.control_lua
            case .faults: PackageResources.faults_lua
            case .streams: PackageResources.streams_lua
            case .ingress: PackageResources.ingress_lua
            case .lanes: PackageResources.lanes_lua
            case .names: PackageResources.names_lua
            case .ownerless: PackageResources.ownerless_lua
            case .looking: PackageResources.looking_lua
            case .unopened: PackageResources.unopened_lua
            case .burying: PackageResources.burying_lua
            case .reopening: PackageResources.reopening_lua
            case .reading: PackageResources.reading_lua
            case .taking: PackageResources.taking_lua
            case .arrival: PackageResources.arrival_lua
            case .doors: PackageResources.doors_lua
            case .ahead: PackageResources.ahead_lua
            }
        }
    }

    /// What it takes to end a job, or to let it wait.
    static let ending: [Part] = [.clock, .events, .flows, .batches, .jobs]

    /// - Parameter drains: whether it runs when Redis is at `maxmemory`: what takes jobs to their ends must,
    ///   what takes new ones in must not. Redis reads the flag from the first line (Redis 7.0 and newer).
    static func script(
        _ name: String, _ body: [UInt8], _ parts: [Part], drains: Bool = false
    ) -> RedisScript {
        let flags = Array((drains ? "#!lua flags=allow-oom\n" : "#!lua\n").utf8)
        return RedisScript(
            name: name,
            source: flags + PackageResources.base_lua + parts.flatMap(\.source) + body)
    }
}
