import Redis

/// The Redis commands that scripts call, read from their texts, each in the form of a real call.
///
/// A server is asked about a command with arguments, because it judges keys, and Redis 8.0.2 also counts the arguments.
enum ScriptCommands {
    /// Stands for a key of the queue in a form.
    private static let key = "%"
    /// The commands that have subcommands: a call's second word belongs to the name.
    private static let containers: Set<String> = ["ACL", "MEMORY", "XINFO"]

    /// A form for each command that reads.
    private static let reading = forms(
        """
        BITCOUNT %
        BITPOS % 0
        EXISTS %
        GET %
        GETBIT % 0
        HEXISTS % field
        HGET % field
        HGETALL %
        HLEN %
        HMGET % field
        HSCAN % 0
        INFO replication
        LINDEX % 0
        LLEN %
        LPOS % element
        MEMORY USAGE %
        SCAN 0
        STRLEN %
        TIME
        XINFO STREAM %
        XLEN %
        XRANGE % - +
        XREVRANGE % + -
        ZCARD %
        ZCOUNT % 0 1
        ZRANGE % 0 1
        ZRANGEBYSCORE % 0 1
        ZRANK % member
        ZREVRANGEBYSCORE % 1 0
        ZSCORE % member
        """)

    /// A form for each command that writes.
    static let writing = forms(
        """
        HDEL % field
        HINCRBY % field 1
        HSET % field value
        HSETNX % field value
        INCR %
        INCRBY % 1
        LPOP %
        LPUSH % element
        LREM % 0 element
        LTRIM % 0 1
        RENAME % %
        RPUSH % element
        SET % value
        SETBIT % 0 1
        UNLINK %
        XADD % * field value
        XDEL % 1-1
        XSETID % 1-1
        XTRIM % MAXLEN 1
        ZADD % 1 member
        ZPOPMIN %
        ZREM % member
        ZREMRANGEBYSCORE % 0 1
        """)

    private static func forms(_ lines: String) -> [String: [String]] {
        lines.split(separator: "\n").reduce(into: [:]) { forms, line in
            let words = line.split(separator: " ").map(String.init)
            forms[name(words[0], words.dropFirst().first ?? "")] = words
        }
    }

    private static func name(_ first: String, _ second: String) -> String {
        containers.contains(first) ? "\(first) \(second)" : first
    }

    /// Returns the words of a call of a command with a key; nil if its form is not known.
    static func call(_ name: String, key: String) -> [String]? {
        (reading[name] ?? writing[name])?.map { $0 == Self.key ? key : $0 }
    }

    /// Returns the names of the commands that a script's text calls: `HSET`, `XINFO STREAM`.
    static func names(in source: [UInt8]) -> Set<String> {
        var names: Set<String> = []
        let mark = Array("call('".utf8)
        var rest = source[...]
        while let start = rest.firstIndex(of: mark[0]) {
            rest = rest[start...]
            guard rest.starts(with: mark) else {
                rest = rest.dropFirst()
                continue
            }
            rest = rest.dropFirst(mark.count)
            let first = word(&rest)
            var second = ""
            if rest.starts(with: "', '".utf8) {
                var after = rest.dropFirst(4)
                second = word(&after)
            }
            names.insert(name(first, second))
        }
        return names
    }

    private static func word(_ rest: inout ArraySlice<UInt8>) -> String {
        let letters = rest.prefix { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 }
        rest = rest.dropFirst(letters.count)
        return String(decoding: letters, as: UTF8.self)
    }
}
