import Edits
import Logging
import MinilabTesting
import Redis
import Testing

@testable import JobQueue

@Suite("Readers of events") struct EventReaderTests {
    /// Lets one job of an asset end well: one event.
    private func complete(_ q: QueueFixture, _ asset: String) async throws {
        try await q.admit(asset)
        try await q.finish(q.claim())
    }

    /// Trims for real, to so many entries.
    private func trim(_ q: QueueFixture, to count: Int) async throws {
        _ = try await q.redis.send([
            "XTRIM", RedisArgument(q.queue.name.keys.events), "MAXLEN", RedisArgument(count),
        ])
    }

    private func reader(_ q: QueueFixture, after position: String? = nil) -> EventReader {
        EventReader(
            queue: q.queue.name, redis: q.redis, after: position ?? EventReader.beginning)
    }

    /// The code of the error, and its sentence.
    private func refusal(_ reader: EventReader) async -> QueueError? {
        var reader = reader
        do {
            _ = try await reader.next()
            return nil
        } catch {
            return error
        }
    }

    @Test func `one that was away goes on after its last event`() async throws {
        let q = try await QueueFixture()
        try await complete(q, "a")
        var before = reader(q)
        #expect(try await before.next().map(\.event.subject) == ["a"])
        try await complete(q, "b")
        try await complete(q, "c")
        var after = reader(q, after: before.position)
        #expect(try await after.next().map(\.event.subject) == ["b", "c"])
        #expect(try await after.next().isEmpty)
    }

    @Test func `one in turns reads fewer events at a time the longer they are, and all of them`()
        async throws
    {
        let q = try await QueueFixture()
        let queue = q.queue.name
        for number in 0..<17 {
            let reason = String(repeating: "x", count: number < 7 ? 10 : 20_000)
            let json =
                #"{"specversion":"1.0","id":"\#(queue)/j\#(number)/1/cancelled","source":"minilab/\#(queue)","#
                + #""type":"org.minilab.job.cancelled","subject":"\#(number)","time":"2026-01-01T00:00:00.000Z","#
                + #""datacontenttype":"application/json","dataschema":"urn:minilab:event:1","data":{"job":"j\#(number)","#
                + #""asset":"\#(number)","generation":1,"reason":"\#(reason)"}}"#
            _ = try await q.redis.send([
                "XADD", RedisArgument(queue.keys.events), "*", "event", RedisArgument(json),
            ])
        }
        var (position, count) = (EventReader.beginning, EventReader.turnFirst)
        var (counts, subjects) = ([Int](), [String]())
        while true {
            var reader = EventReader(
                queue: queue, redis: q.redis, after: position, atMost: count)
            let entries = try await reader.next()
            if entries.isEmpty { break }
            counts.append(entries.count)
            subjects += entries.compactMap(\.event.subject)
            (position, count) = (reader.position, EventReader.turnNext(after: entries))
        }
        #expect(subjects == (0..<17).map { "\($0)" })
        // The first long ones come as a surprise, no more than twice as many as the short ones before.
        #expect(counts == [1, 2, 4, 8, 1, 1])
    }

    @Test func `an entry that is no event is told once and passed over`() async throws {
        let q = try await QueueFixture()
        try await complete(q, "a")
        _ = try await q.redis.send([
            "XADD", RedisArgument(q.queue.name.keys.events), "*", "event", #"{"specversion":"9"}"#,
        ])
        try await complete(q, "b")
        var reader = reader(q)
        #expect(try await reader.next().map(\.event.subject) == ["a"])
        let error = await #expect(throws: QueueError.self) { try await reader.next() }
        #expect(error?.code == .unreadableEvent)
        #expect(error?.message.contains(reader.position) == true)
        #expect(try await reader.next().map(\.event.subject) == ["b"])
        #expect(try await reader.next().isEmpty)
    }

    @Test func `one that was away too long is told so, and how to take stock`() async throws {
        let q = try await QueueFixture()
        try await complete(q, "a")
        var early = reader(q)
        _ = try await early.next()
        for asset in ["b", "c", "d"] { try await complete(q, asset) }
        let newest = try await EventReader(queue: q.queue.name, redis: q.redis, afterNewest: ())
        try await trim(q, to: 1)
        let error = await refusal(early)
        #expect(error?.code == .tokenExpired)
        #expect(error?.message.contains("minilab assets --json") == true)
        #expect(error?.message.contains("--after \(newest.position)") == true)
        // And told so again, until it does that.
        #expect(await refusal(early)?.code == .tokenExpired)
        try await complete(q, "e")
        var anew = newest
        #expect(try await anew.next().map(\.event.subject) == ["e"])
    }

    @Test func `trimming behind one is no matter`() async throws {
        let q = try await QueueFixture()
        for asset in ["a", "b", "c"] { try await complete(q, asset) }
        var reader = reader(q)
        #expect(try await reader.next().count == 3)
        try await trim(q, to: 1)
        #expect(try await reader.next().isEmpty)
        // Even the last one that was read: nothing came after it.
        try await trim(q, to: 0)
        #expect(try await reader.next().isEmpty)
    }

    @Test func `trimming while one follows is noticed before it reads on`() async throws {
        let q = try await QueueFixture()
        try await complete(q, "a")
        var follower = reader(q)
        #expect(try await follower.next(waiting: .seconds(300)).count == 1)
        var read = 0
        for round in 0..<20 {
            try await complete(q, "b\(round)")
            try await trim(q, to: 2)
            read += try await follower.next(waiting: .seconds(300)).count
        }
        #expect(read == 20, "a false alarm would have thrown")
        for round in 0..<5 { try await complete(q, "c\(round)") }
        try await trim(q, to: 2)
        let lost = follower
        #expect(await refusal(lost)?.code == .tokenExpired)
    }

    @Test func `one that waits is woken by the next event`() async throws {
        let q = try await QueueFixture()
        try await complete(q, "a")
        let client = RedisClient(
            RedisConfiguration(url: try RedisURL(q.server.url)), logger: Logger(label: "test"))
        var reader = EventReader(
            queue: q.queue.name, redis: client, after: EventReader.beginning)
        _ = try await reader.next()
        let waiting = reader
        async let heard = Task {
            var waiting = waiting
            return try await waiting.next(waiting: .seconds(300)).map(\.event.subject)
        }.value
        try await complete(q, "b")
        #expect(try await heard == ["b"])
        await client.close()
    }

    @Test func `the beginning is what is there, however much was trimmed`() async throws {
        let q = try await QueueFixture()
        #expect(await refusal(reader(q)) == nil)
        for asset in ["a", "b", "c"] { try await complete(q, asset) }
        try await trim(q, to: 1)
        var fresh = reader(q)
        #expect(try await fresh.next().map(\.event.subject) == ["c"])
        #expect(await refusal(reader(q, after: "0-0")) == nil)
    }

    @Test func `the newest of a stream that is not there yet is its beginning`() async throws {
        let q = try await QueueFixture()
        var reader = try await EventReader(queue: q.queue.name, redis: q.redis, afterNewest: ())
        try await complete(q, "a")
        #expect(try await reader.next().map(\.event.subject) == ["a"])
    }

    @Test func `a time between two events is a place to start from`() async throws {
        let q = try await QueueFixture()
        try await complete(q, "a")
        var first = reader(q)
        _ = try await first.next()
        let id = try #require(StreamID(first.position))
        try await complete(q, "b")
        var between = reader(q, after: "\(id.milliseconds)-\(id.number + 1)")
        #expect(try await between.next().map(\.event.subject) == ["b"])
    }

    @Test
    func `a time before the first event of all is a place to start from, if none was trimmed`()
        async throws
    {
        let q = try await QueueFixture()
        for asset in ["a", "b"] { try await complete(q, asset) }
        var first = reader(q)
        let id = try #require(try await first.next().first?.id)
        let time = EventReader.milliseconds(of: id) - 1000
        var early = reader(q, after: "\(time)")
        #expect(try await early.next().map(\.event.subject) == ["a", "b"])
        // An event of a stream that is gone may have had such an id.
        #expect(await refusal(reader(q, after: "\(time)-0"))?.code == .tokenExpired)
        try await trim(q, to: 1)
        #expect(await refusal(reader(q, after: "\(time)"))?.code == .tokenExpired)
    }

    @Test func `a time is a gap where an event was deleted, or the stream was begun anew`()
        async throws
    {
        let q = try await QueueFixture()
        let key = RedisArgument(q.queue.name.keys.events)
        let time = "\(try await q.queue.now() - 60_000)"
        // A queue that has not told anything yet has lost nothing.
        #expect(await refusal(reader(q, after: time)) == nil)
        try await complete(q, "a")
        var early = reader(q)
        _ = try await early.next()
        try await complete(q, "b")
        #expect(await refusal(reader(q, after: time)) == nil)
        _ = try await q.redis.send(["XDEL", key, RedisArgument(early.position)])
        #expect(await refusal(reader(q, after: time))?.code == .tokenExpired)
        _ = try await q.redis.send(["DEL", key])
        #expect(await refusal(reader(q, after: time))?.code == .tokenExpired)
        try await complete(q, "c")
        #expect(await refusal(reader(q, after: time))?.code == .tokenExpired)
    }

    @Test func `one whose last event was trimmed goes on if nothing after it was`() async throws {
        let q = try await QueueFixture()
        try await complete(q, "a")
        var reader = reader(q)
        #expect(try await reader.next().count == 1)
        try await trim(q, to: 0)
        #expect(try await reader.next().isEmpty)
        let waiting = reader
        try await complete(q, "b")
        #expect(try await reader.next().map(\.event.subject) == ["b"])
        // Not so in a stream that was begun anew.
        _ = try await q.redis.send(["DEL", RedisArgument(q.queue.name.keys.events)])
        try await complete(q, "c")
        #expect(await refusal(waiting)?.code == .tokenExpired)
        // And not if one was trimmed that it has not read.
        var next = try await EventReader(queue: q.queue.name, redis: q.redis, afterNewest: ())
        try await trim(q, to: 0)
        #expect(try await next.next().isEmpty)
        for asset in ["d", "e"] { try await complete(q, asset) }
        try await trim(q, to: 1)
        #expect(await refusal(next)?.code == .tokenExpired)
    }

    @Test func `a reader of events that Redis has lost goes on after the newest one that is left`()
        async throws
    {
        let q = try await QueueFixture()
        for asset in ["a", "b", "c"] { try await complete(q, asset) }
        var reader = reader(q)
        #expect(try await reader.next().count == 3)
        let read = reader.position
        // A power cut: the last two are gone, and no other is known to have been there.
        let key = RedisArgument(q.queue.name.keys.events)
        let entry = try await q.redis.send(["XRANGE", key, "-", "+", "COUNT", "1"])
        let first = try #require(entry.array?.first?.array?.first?.string)
        let json = try #require(entry.array?.first?.array?.last?.array?.last?.string)
        _ = try await q.redis.send(["DEL", key])
        _ = try await q.redis.send(["XADD", key, .init(first), "event", .init(json)])
        #expect(try await reader.next().isEmpty)
        #expect(reader.lostPosition == read && reader.position == first)
        try await complete(q, "d")
        #expect(try await reader.next().map(\.event.subject) == ["d"])
    }

    @Test func `a stream that is gone, or was begun anew, has none of its events`() async throws {
        let q = try await QueueFixture()
        try await complete(q, "a")
        var reader = reader(q)
        _ = try await reader.next()
        _ = try await q.redis.send(["DEL", RedisArgument(q.queue.name.keys.events)])
        #expect(await refusal(reader)?.code == .tokenExpired)
        try await complete(q, "b")
        #expect(await refusal(reader)?.code == .tokenExpired)
        let ahead = self.reader(q, after: "99999999999999-0")
        #expect(await refusal(ahead)?.message.contains("another stream") == true)
    }

    /// A queue that keeps so many events, and a tenth of them by tenant.
    private func small(events: Int) async throws -> QueueFixture {
        var settings = QueueSettings()
        (settings.eventsMax, settings.tendPace) = (events, .zero)
        return try await QueueFixture(settings: settings)
    }

    /// Makes so many events of a tenant.
    private func cancel(
        _ count: Int, of tenant: String, on q: QueueFixture, reason: String = "no"
    ) async throws {
        var ids: [String] = []
        for _ in 0..<count {
            ids.append(
                try await q.xadd([
                    "asset": "a", "edit": QueueFixture.recipe, "tenant": tenant,
                ]))
        }
        _ = try await q.queue.admit()
        _ = try await q.queue.cancel(ids, reason: reason)
    }

    private func tenants(_ reader: EventReader) async throws -> [String] {
        var (reader, found) = (reader, [String]())
        while case let entries = try await reader.next(), !entries.isEmpty {
            found += entries.compactMap(\.event.tenant)
        }
        return found
    }

    @Test func `a busy tenant pushes out its own events and not those of the others`() async throws
    {
        let q = try await small(events: 100)
        try await cancel(1, of: "first", on: q)
        var first = reader(q)
        _ = try await first.next()
        try await cancel(4, of: "quiet", on: q)
        for _ in 0..<5 {
            try await cancel(100, of: "busy", on: q)
            _ = try await q.queue.tend()
        }
        let place = first.position
        func read(_ tenant: String?) -> EventReader {
            EventReader(queue: q.queue.name, redis: q.redis, after: place, of: tenant)
        }
        // All of the quiet one's, and what the stream still has.
        let quiet = try await tenants(read("quiet"))
        #expect(quiet.prefix(4).allSatisfy { $0 == "quiet" } && quiet.count { $0 == "quiet" } == 4)
        #expect(quiet.count { $0 == "busy" } <= 200)
        #expect(await refusal(read("busy"))?.code == .tokenExpired)
        #expect(await refusal(read(nil))?.code == .tokenExpired)
        // Nothing of it came after its place.
        #expect(try await !tenants(read("first")).contains("first"))
        let fresh = EventReader(queue: q.queue.name, redis: q.redis, of: "quiet")
        #expect(try await tenants(fresh).count { $0 == "quiet" } == 4)
        let kept = try await q.redis.send([
            "ZRANGE", RedisArgument(q.queue.name.keys.prefix + "events:kept"), "0", "-1",
            "WITHSCORES",
        ]).pairs
        #expect(kept?.values.compactMap { Int($0) }.reduce(0, +) == 10)
    }

    @Test func `long events are bounded in bytes, and push out none of other tenants`()
        async throws
    {
        let q = try await small(events: 1000)
        try await cancel(5, of: "quiet", on: q)
        for _ in 0..<3 {
            try await cancel(
                100, of: "busy", on: q, reason: String(repeating: "x", count: 20_000))
            _ = try await q.queue.tend()
        }
        _ = try await q.queue.tend()
        func left() async throws -> Int {
            let key = RedisArgument(q.queue.name.keys.events)
            return Int(try #require(try await q.redis.send(["XLEN", key]).int))
        }
        // As many bytes as a thousand events of 1,500 bytes have, in 128 parts: each of these is more than one.
        #expect(try await left() <= 128)
        func read(_ tenant: String) -> EventReader {
            EventReader(queue: q.queue.name, redis: q.redis, of: tenant)
        }
        #expect(try await tenants(read("quiet")).count { $0 == "quiet" } == 5)
        #expect(try await tenants(read("busy")).count { $0 == "busy" } <= 128)
        // Entries that somebody else has cut count no more.
        _ = try await q.redis.send([
            "XTRIM", RedisArgument(q.queue.name.keys.events), "MAXLEN", "50",
        ])
        try await cancel(70, of: "busy", on: q, reason: String(repeating: "x", count: 20_000))
        _ = try await q.queue.tend()
        #expect(try await left() == 120)
    }

    @Test func `a reader of one tenant is told when somebody else has cut the stream`() async throws
    {
        let q = try await small(events: 100)
        try await cancel(1, of: "quiet", on: q)
        var early = reader(q)
        _ = try await early.next()
        try await cancel(150, of: "quiet", on: q)
        _ = try await q.queue.tend()
        let late = try await EventReader(queue: q.queue.name, redis: q.redis, afterNewest: ())
        try await cancel(5, of: "busy", on: q)
        try await trim(q, to: 1)
        for place in [early.position, late.position] {
            let quiet = EventReader(
                queue: q.queue.name, redis: q.redis, after: place, of: "quiet")
            #expect(await refusal(quiet)?.code == .tokenExpired)
        }
    }

    @Test(arguments: ["", "yesterday", "1-2-3", "-1", "$"])
    func `a place that is no id is refused`(position: String) async throws {
        let q = try await QueueFixture()
        #expect(await refusal(reader(q, after: position))?.code == .badPosition)
    }
}
