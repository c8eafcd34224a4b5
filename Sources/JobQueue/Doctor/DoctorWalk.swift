import Redis

/// One walk over all keys of a queue, in bounded steps.
///
/// A key or member that is there during the whole walk is seen (that is what `SCAN` promises); one that comes
/// or goes meanwhile may be seen or not, and the scripts look again at what was seen.
struct DoctorWalk {
    /// Ids of one call of `inspect`.
    static let idsMax = 200
    /// Ids of one call for which it may have to look through the list of done jobs.
    static let unlistedMax = 20
    /// Elements that Redis looks at in one step.
    static let step = 500

    var examination: Examination
    private let queue: JobQueue
    /// Done jobs that were seen in their list: as many as the list may have.
    private var listed: Set<String> = []
    private var members: [Examination.Candidate] = []
    private var unlisted: [Examination.Candidate] = []
    private var flows: Set<String> = []
    private var batches: Set<String> = []

    init(queue: JobQueue, repair: Bool) {
        self.queue = queue
        examination = Examination(queue: queue, repair: repair)
    }

    /// Walks and returns what it found.
    mutating func run() async throws(QueueError) -> Diagnosis {
        try await walkDone()
        // Before the dead are looked at: they are counted anew if need be.
        try await examination.inspectGroups()
        // Who has assets comes before who waits for them, so that none is given to a job out of its turn.
        try await walkMembers(of: "lease")
        try await findFlows()
        for flow in flows.sorted() { try await walkMembers(of: "ready:\(flow)") }
        for place in ["stuck", "delayed", "parked", "dead"] { try await walkMembers(of: place) }
        try await walk("HSCAN", "assets", by: 2) { walk, pair throws(QueueError) in
            guard let asset = pair[0].string, let holder = pair[1].string else { return }
            try await walk.see(holder, in: "assets:\(asset)")
        }
        try await walkFields(of: "reserved")
        try await walkKeys()
        try await flush()
        try await inspectFlows()
        try await walkBatches()
        try await examination.inspectLeases()
        return examination.diagnosis
    }

    private mutating func see(_ id: String, in place: String) async throws(QueueError) {
        members.append((place: place, id: id))
        if members.count == Self.idsMax { try await flush() }
    }

    private mutating func flush() async throws(QueueError) {
        try await examination.inspect(members)
        try await examination.inspect(unlisted)
        members.removeAll(keepingCapacity: true)
        unlisted.removeAll(keepingCapacity: true)
    }

    /// Done jobs are dropped at the head meanwhile, so some may be passed over: `inspect` looks them up.
    private mutating func walkDone() async throws(QueueError) {
        var start = 0
        while true {
            let ids = try await queue.send([
                "LRANGE", RedisArgument(queue.name.keys.done), RedisArgument(start),
                RedisArgument(start + Self.step - 1),
            ])
            guard let ids = ids.array?.compactMap(\.string), !ids.isEmpty else { return }
            for id in ids {
                listed.insert(id)
                try await see(id, in: "done")
            }
            start += ids.count
        }
    }

    private mutating func walkMembers(of place: String) async throws(QueueError) {
        try await walk("ZSCAN", place, by: 2) { walk, pair throws(QueueError) in
            if let id = pair[0].string { try await walk.see(id, in: place) }
        }
    }

    private mutating func walkFields(of place: String) async throws(QueueError) {
        try await walk("HSCAN", place, by: 2) { walk, pair throws(QueueError) in
            if let id = pair[0].string { try await walk.see(id, in: place) }
        }
    }

    private mutating func walkKeys() async throws(QueueError) {
        let prefix = queue.name.keys.prefix
        try await walk("SCAN", nil, by: 1) { walk, key throws(QueueError) in
            guard let key = key[0].string, key.hasPrefix(prefix) else { return }
            let name = key.dropFirst(prefix.count)
            guard let colon = name.firstIndex(of: ":") else { return }
            try await walk.see(
                key: String(name), kind: name[..<colon],
                rest: String(name[name.index(after: colon)...]))
        }
    }

    private mutating func see(
        key: String, kind: Substring, rest: String
    ) async throws(QueueError) {
        switch kind {
        case "job":
            if listed.contains(rest) { return }
            unlisted.append((place: "unlisted", id: rest))
            if unlisted.count == Self.unlistedMax { try await flush() }
        case "edit", "result", "attempts": try await see(rest, in: String(kind))
        case "backlog": try await walkFields(of: key)
        case "parked": try await walkMembers(of: key)
        case "ready":
            if flows.insert(rest).inserted { try await walkMembers(of: key) }
        case "batch", "lane": batches.insert(String(rest.prefix { $0 != ":" }))
        default: break
        }
    }

    private mutating func findFlows() async throws(QueueError) {
        for priority in ["interactive", "normal", "bulk", "alone"] {
            for key in ["flows:\(priority)", "finished:\(priority)"] {
                try await walk("ZSCAN", key, by: 2) { walk, pair in
                    if let tenant = pair[0].string { walk.flows.insert("\(priority):\(tenant)") }
                }
            }
        }
        try await walk("HSCAN", "capped", by: 2) { walk, pair in
            if let flow = pair[0].string { walk.flows.insert(flow) }
        }
    }

    private mutating func inspectFlows() async throws(QueueError) {
        let all = flows.sorted()
        for start in stride(from: 0, to: all.count, by: Self.idsMax) {
            try await examination.inspect(flows: all[start..<min(start + Self.idsMax, all.count)])
        }
    }

    private mutating func walkBatches() async throws(QueueError) {
        for zset in ["batches", "batches:ended", "lanes"] {
            try await walk("ZSCAN", zset, by: 2) { walk, pair in
                if let batch = pair[0].string { walk.batches.insert(batch) }
            }
        }
        for batch in batches.sorted() { try await examination.inspect(batch: batch) }
    }

    /// Goes through a structure, or through the keys of the queue.
    ///
    /// - Parameters:
    ///   - name: the structure, without the prefix of the queue; nil for the keys.
    ///   - width: how many replies make one element.
    private mutating func walk(
        _ command: String, _ name: String?, by width: Int,
        _ body: (inout DoctorWalk, [RedisReply]) async throws(QueueError) -> Void
    ) async throws(QueueError) {
        var cursor = "0"
        repeat {
            let key = name.map { [RedisArgument("\(queue.name.keys.prefix)\($0)")] } ?? []
            // A queue's name has no character that a pattern would read.
            let match: [RedisArgument] =
                name == nil ? ["MATCH", RedisArgument("\(queue.name.keys.prefix)*")] : []
            let reply = try await queue.send(
                [RedisArgument(command)] + key + [RedisArgument(cursor)] + match
                    + ["COUNT", RedisArgument(Self.step)])
            guard let parts = reply.array, parts.count == 2, let next = parts[0].string,
                let elements = parts[1].array, elements.count % width == 0
            else {
                throw QueueError(
                    .unexpectedReply, "\(command) of queue \(queue.name) answered \(reply).")
            }
            for start in stride(from: 0, to: elements.count, by: width) {
                let element = Array(elements[start..<start + width])
                try await body(&self, element)
            }
            cursor = next
        } while cursor != "0"
    }
}
