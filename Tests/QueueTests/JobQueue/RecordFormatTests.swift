import Edits
import Foundation
import MinilabTesting
import Redis
import Testing

@testable import JobQueue

@Suite("Formats of records and events") struct RecordFormatTests {
    @Test func `a job's record says its format, also one that never was a job`() async throws {
        let q = try await QueueFixture()
        try await q.admit("a")
        try await q.xadd(["id": "wrong", "asset": "a"])
        _ = try await q.queue.admit()
        for job in ["a", "wrong"] {
            #expect(try await q.field("format", of: "job:\(job)") == "2")
            #expect(try await q.queue.record(of: job)?.format == 2)
        }
    }

    @Test func `a record of the first release, which names no format, goes to its end`()
        async throws
    {
        let q = try await QueueFixture()
        try await q.admit("a")
        try await q.harm(["HDEL job:a format"])
        #expect(try await q.queue.record(of: "a")?.format == 1)
        try await q.finish(q.claim())
        #expect(try await q.state(of: "a") == "done")
    }

    @Test func `a job of a later format is left at its place for a newer worker`() async throws {
        let q = try await QueueFixture()
        try await q.admit("a", "b")
        try await q.harm(["HSET job:a format 99"])
        let first = try await q.queue.claim(by: "w", count: 8)
        #expect(first.jobs.map(\.job) == ["b"] && first.hasLater)
        let second = try await q.queue.claim(by: "w", count: 8)
        #expect(second.jobs.isEmpty && second.hasLater)
        #expect(try await q.state(of: "a") == "ready")
        #expect(
            try await q.queue.facts(of: "a").reason == .laterFormat(state: "ready", format: 99))
        #expect(try await q.queue.cancel(["a"], reason: "no") == [.later])
        #expect(try await q.queue.replay(["a"]) == [.later])
        let diagnosis = try await q.queue.diagnose(repair: true)
        #expect(diagnosis.isHealthy && diagnosis.mended.isEmpty)
        #expect(diagnosis.warnings.contains { $0.contains("is of format 99") })
        // To a worker that knows the format it is a job like any other.
        try await q.harm(["HSET job:a format 2"])
        #expect(try await q.claim().job == "a")
    }

    @Test func `a job of a later format that its worker lost is left to a newer one`() async throws
    {
        let q = try await QueueFixture(settings: QueueFixture.expiredAtOnce)
        try await q.admit("a", "b")
        _ = try await q.queue.claim(by: "newer", count: 2)
        try await q.harm(["HSET job:a format 99"])
        #expect(try await q.queue.reap(by: "older").ready == 1)
        #expect(try await q.state(of: "a") == "active")
        #expect(try await q.field("crashes", of: "job:a") == nil)
    }

    @Test func `jobs of a later format whose worker died keep no others from being found`()
        async throws
    {
        var settings = QueueSettings()
        settings.reapMax = 1
        let q = try await QueueFixture(settings: settings)
        try await q.admit("a", "b")
        _ = try await q.queue.claim(by: "newer", count: 2)
        try await q.harm(["HSET job:a format 99", "ZADD lease 1 a 2 b"])
        #expect(try await q.queue.reap(by: "older").ready == 0)
        #expect(try await q.queue.reap(by: "older").ready == 1)
        #expect(try await q.state(of: "a") == "active")
        #expect(try await q.state(of: "b") == "ready")
        #expect(try await q.field("crashes", of: "job:a") == nil)
    }

    @Test func `an event names its format, and one of a later format is refused with a sentence`()
        async throws
    {
        let q = try await QueueFixture()
        try await q.prepare("done")
        #expect(try await q.events().map(\.dataSchema) == [JobEvent.schema])
        let entries = try await q.redis.send([
            "XRANGE", RedisArgument(q.queue.name.keys.prefix + "events"), "-", "+",
        ])
        let text = try #require(entries.array?.first?.array?.last?.array?.last?.string)
        let later = text.replacing("urn:minilab:event:1", with: "urn:minilab:event:2")
        #expect(later != text)
        let error = #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(JobEvent.self, from: Data(later.utf8))
        }
        #expect("\(try #require(error))".contains("use a newer one"))
        // Events of the first release name none.
        let first = text.replacing(#""dataschema":"urn:minilab:event:1","#, with: "")
        #expect(
            try JSONDecoder().decode(JobEvent.self, from: Data(first.utf8)).dataSchema == nil)
    }
}
