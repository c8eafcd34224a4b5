import Redis

/// The Lua scripts: each state change of a job is one of them. `Scripts/Shared/base.lua` explains the keys.
enum QueueScript {
    static let admit = script("admit", PackageResources.admit_lua, [.entries, .taking])
    static let feed = script("feed", PackageResources.feed_lua, [.entries, .taking])
    static let claim = script("claim", PackageResources.claim_lua, drains: true)
    static let beat = script("beat", PackageResources.beat_lua, drains: true)
    static let commit = script("commit", PackageResources.commit_lua, drains: true)
    static let preview = script("preview", PackageResources.preview_lua)
    static let conclude = script("conclude", PackageResources.conclude_lua, drains: true)
    static let finalize = script("finalize", PackageResources.finalize_lua, drains: true)
    static let fail = script("fail", PackageResources.fail_lua, drains: true)
    static let release = script("release", PackageResources.release_lua, drains: true)
    static let reap = script("reap", PackageResources.reap_lua, drains: true)
    static let replay = script("replay", PackageResources.replay_lua)
    static let cancel = script("cancel", PackageResources.cancel_lua, [.control], drains: true)
    static let cancelBatch = script(
        "cancel_batch", PackageResources.cancel_batch_lua, [.control], drains: true)
    static let configure = script(
        "configure", PackageResources.configure_lua, [.control], drains: true)
    static let census = script("census", PackageResources.census_lua, drains: true)

    /// What a script needs beyond what nearly all need.
    enum Part {
        case control, entries, taking

        var source: [UInt8] {
            switch self {
            case .control: PackageResources.control_lua
            case .entries: PackageResources.entries_lua
            case .taking: PackageResources.control_lua + PackageResources.taking_lua
            }
        }
    }

    static let shared =
        PackageResources.base_lua + PackageResources.events_lua + PackageResources.flows_lua
        + PackageResources.batches_lua + PackageResources.jobs_lua

    /// - Parameter drains: whether it runs when Redis is at `maxmemory`: what takes jobs to their ends must,
    ///   what takes new ones in must not. Redis reads the flag from the first line (Redis 7.0 and newer).
    private static func script(
        _ name: String, _ body: [UInt8], _ parts: [Part] = [], drains: Bool = false
    ) -> RedisScript {
        let flags = Array((drains ? "#!lua flags=allow-oom\n" : "#!lua\n").utf8)
        return RedisScript(name: name, source: flags + shared + parts.flatMap(\.source) + body)
    }
}
