/// What each user of `ops/redis-users.conf` may run, as it was reviewed: a command that is added there is added here, by
/// somebody who has asked what it can do to whom.
enum ReviewedRights {
    /// Commands by user; a subcommand as `config|get`.
    static let commands: [String: Set<String>] = [
        "producer": ["xadd"],
        "reader": ["xinfo|stream", "xlen", "xrange", "xread", "xrevrange"],
        "worker": shared.union([
            "blpop", "hlen", "hscan", "incrby", "lindex", "memory|usage", "scan", "strlen", "xdel",
            "xsetid", "xtrim", "zcount", "zremrangebyscore",
        ]),
        "operator": shared.union([
            "bitcount", "bitpos", "hlen", "hscan", "incr", "incrby", "lindex",
            "lpos",
            "lrem", "scan", "strlen", "xsetid", "zcount", "zmscore", "zrank",
            "zscan",
        ]),
        "gateway": shared.union([
            "bitcount", "bitpos", "hlen", "hscan", "incr", "incrby", "lpos",
            // Lets an ingress stream that a producer has closed continue; XADD with an id does as much.
            "scan", "strlen", "xsetid", "zcount", "zrank", "zscan",
        ]),
    ]

    /// The commands that worker, operator and gateway all need.
    private static let shared: Set<String> = [
        "acl|dryrun", "client|setname", "evalsha", "exists", "get", "getbit", "hdel", "hexists",
        "hget",
        "hgetall",
        "hincrby", "hmget", "hset", "hsetnx", "info", "llen", "lpop", "lpush", "lrange", "ltrim",
        "ping",
        // Of its own keys alone: both ends must be.
        "rename", "rpush", "script|load", "select", "set", "setbit", "time", "unlink", "xadd",
        "xinfo|stream",
        "xlen", "xrange", "xread", "xrevrange", "zadd", "zcard", "zpopmin", "zrange",
        "zrangebyscore",
        "zrem", "zrevrangebyscore", "zscore",
    ]

    /// Those of them that name no key, so that no key pattern holds them: what they can do was looked at one by one.
    ///
    /// `scan` shows the names of all keys of the server. `script|load` fills memory that only a restart frees. `acl|dryrun` shows what
    /// any user may run.
    static let withoutKeys: Set<String> = [
        "acl|dryrun", "client|setname", "info", "ping", "scan", "script|load", "select", "time",
    ]

    /// What lets any command in; nobody may do it without authentication anyway.
    static let ofEverybody: Set<String> = ["auth", "hello", "quit", "reset"]
}
