import Redis

/// The Lua scripts: each state change of a job is one of them. `Scripts/prelude.lua` explains the keys.
enum QueueScript {
    static let admit = script("admit", PackageResources.admit_lua)
    static let claim = script("claim", PackageResources.claim_lua)
    static let beat = script("beat", PackageResources.beat_lua)
    static let commit = script("commit", PackageResources.commit_lua)
    static let preview = script("preview", PackageResources.preview_lua)
    static let conclude = script("conclude", PackageResources.conclude_lua)
    static let finalize = script("finalize", PackageResources.finalize_lua)
    static let fail = script("fail", PackageResources.fail_lua)
    static let release = script("release", PackageResources.release_lua)
    static let reap = script("reap", PackageResources.reap_lua)
    static let replay = script("replay", PackageResources.replay_lua)

    private static func script(_ name: String, _ body: [UInt8]) -> RedisScript {
        RedisScript(name: name, source: PackageResources.prelude_lua + body)
    }
}
