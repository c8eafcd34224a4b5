import Foundation
import JobQueue
import MinilabTesting
import RenderProtocol
import Testing

@Suite("The status port of a worker") struct StatusPortTests {
    @Test func `a worker that renders tells so in metrics that promtool accepts`() async throws {
        let rig = try await Rig()
        try rig.put("good.png", SyntheticPhoto.png(width: 64, height: 48))
        try rig.put("bad.png", Data("not a photo".utf8))
        let worker = try rig.worker("w", slots: 3, flags: ["--status-port", "0"])
        try await rig.xadd("good.png", id: "good")
        try await rig.xadd("bad.png", id: "bad")
        _ = try await rig.waitForEnds(2)
        let port = try await statusPort(of: worker)
        let wanted = [
            #"minilab_attempts_total{outcome="published",code=""} 1"#,
            #"minilab_attempts_total{outcome="failed",code="unsupportedFormat"} 1"#,
            #"minilab_render_seconds_count{size="full",lane="stream"} 1"#,
            "minilab_claims_total 2", "minilab_queue_wait_seconds_count 2", "minilab_slots 3",
            "minilab_slots_busy 0", "minilab_ready 1", "minilab_redis_up 1",
        ]
        // The worker counts an end just after the event that we waited for.
        let text = try await eventually("the ends are counted") {
            let answer = try await HTTPExchange.get("/metrics", port: port)
            let lines = Set(answer.body.split(separator: "\n").map(String.init))
            return lines.isSuperset(of: wanted) ? answer.text : nil
        }
        #expect(text.contains("Content-Type: text/plain; version=0.0.4"))
        let body = try #require(text.components(separatedBy: "\r\n\r\n").last)
        try PromTool.checkMetrics(body)
        #expect(body.contains(#"minilab_worker_info{worker="w",queue="photos"} 1"#))
        // The queue's numbers may be a few seconds old.
        _ = try await eventually("the queue is told to be empty") {
            let body = try await HTTPExchange.get("/metrics", port: port).body
            return body.contains(#"minilab_queue_jobs{queue="photos",state="dead"} 1"#)
                && body.contains(#"minilab_queue_events_total{queue="photos",event="completed"} 1"#)
                ? () : nil
        }
        for page in ["/healthz", "/readyz"] {
            let answer = try await HTTPExchange.get(page, port: port)
            #expect(answer.status == 200)
            #expect(answer.body == #"{"ok":true,"problems":[]}"# + "\n")
        }
        worker.kill(SIGTERM)
        #expect(try await worker.waitForEnd() == .exited(0))
    }

    @Test func `Redis away makes a worker unready and not dead, and a scrape still answers`()
        async throws
    {
        let rig = try await Rig(syncsEachWrite: true)
        let worker = try rig.worker("w", flags: ["--status-port", "0"])
        let port = try await statusPort(of: worker)
        try await waitForReadiness(port, 200)
        rig.server.kill(SIGKILL)
        try await rig.server.waitForEnd()
        let answer = try await waitForReadiness(port, 503)
        #expect(answer.body.contains("Redis cannot be used"))
        #expect(answer.body.contains("ops/RUNBOOK.md"))
        #expect(answer.body.contains(#""forSeconds":"#))
        #expect(try await HTTPExchange.get("/healthz", port: port).status == 200)
        _ = try await eventually("a scrape tells that Redis is away") {
            let body = try await HTTPExchange.get("/metrics", port: port).body
            guard body.contains("minilab_redis_up 0\n") else { return nil as Void? }
            #expect(!body.contains("minilab_queue_jobs"))
            #expect(body.contains(#"minilab_redis_failures_total{call="claim"}"#))
            return ()
        }
        try await rig.server.launch()
        try await waitForReadiness(port, 200)
        worker.kill(SIGTERM)
        #expect(try await worker.waitForEnd() == .exited(0))
    }

    @Test func `a worker that drains is not ready until it has ended`() async throws {
        let rig = try await Rig()
        try rig.put("a.png", SyntheticPhoto.png(width: 64, height: 48))
        try await rig.xadd("a.png", id: "job")
        let worker = try rig.worker(
            "w", slots: 1, stopAt: .midRender, flags: ["--status-port", "0"])
        let child = try await rig.processThatStopped(of: worker)
        let port = try await statusPort(of: worker)
        let busy = try await HTTPExchange.get("/metrics", port: port).body
        #expect(busy.contains("minilab_slots_busy 1\n"))
        worker.kill(SIGTERM)
        let answer = try await waitForReadiness(port, 503)
        #expect(answer.body.contains("asked to stop"))
        #expect(try await HTTPExchange.get("/healthz", port: port).status == 200)
        kill(child, SIGCONT)
        #expect(try await worker.waitForEnd() == .exited(0))
    }

    @Test func `a port that is taken stops the worker before its first claim`() async throws {
        let rig = try await Rig()
        let job = try await rig.xadd("a.png")
        let worker = try rig.worker("w", flags: ["--status-port", "\(rig.server.port)"])
        guard case .exited(let code) = try await worker.waitForEnd() else {
            Issue.record("it was killed")
            return
        }
        #expect(code != 0)
        #expect(worker.output.contains("127.0.0.1 port \(rig.server.port)"))
        #expect(worker.output.contains("Give another --status-port"))
        #expect(try await rig.queue.record(of: job) == nil)
    }

    @Test func `every line of the log about a job says which, of what asset, under which fence`()
        async throws
    {
        let rig = try await Rig()
        try rig.put("good.png", SyntheticPhoto.png(width: 64, height: 48))
        try rig.put("bad.png", Data("not a photo".utf8))
        let worker = try rig.worker(
            "w", slots: 1, stopAt: .midRender,
            flags: ["--log-format", "json", "--log-level", "debug"])
        let good = try await rig.xadd("good.png")
        // A child that dies in the middle: what is said of that belongs to its job.
        let child = try await rig.processThatStopped(of: worker)
        let first = try #require(try await rig.queue.record(of: good)?.fence)
        kill(child, SIGSEGV)
        kill(child, SIGCONT)
        try await rig.xadd("bad.png", id: "bad")
        let next = try await eventually("the next child works") {
            stoppedProcess(of: worker.pid, except: child)
        }
        kill(next, SIGCONT)
        _ = try await rig.waitForEnds(2)
        worker.kill(SIGTERM)
        #expect(try await worker.waitForEnd() == .exited(0))

        let lines = try worker.output.split(separator: "\n").map { line in
            try #require(
                try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String],
                "not a line of JSON: \(line)")
        }
        let reported = lines.filter { $0["outcome"] != nil || $0["code"] != nil }
        #expect(
            Set(
                reported.map {
                    "\($0["job"] ?? "-") \($0["asset"] ?? "-") \($0["outcome"] ?? $0["code"]!)"
                })
                == [
                    "\(good) good.png renderCrashed", "\(good) good.png failed",
                    "\(good) good.png published", "bad bad.png unsupportedFormat",
                    "bad bad.png failed",
                ])
        // Both tries of one job are told apart by their fences.
        let fences = Set(reported.filter { $0["job"] == good }.compactMap { $0["fence"] })
        #expect(fences.count == 2 && fences.contains(first))
        // The three keys come together, on all lines but those about the worker itself.
        for line in lines {
            #expect(
                Set(["job", "asset", "fence"].filter { line[$0] != nil }).count % 3 == 0, "\(line)")
            #expect(line["job.id"] == nil && line["time"] != nil && line["level"] != nil)
        }
        #expect(lines.contains { $0["message"] == "worker starts" && $0["job"] == nil })
    }

    @discardableResult
    private func waitForReadiness(_ port: Int, _ status: Int) async throws -> HTTPExchange.Answer {
        try await eventually("/readyz answers \(status)") {
            let answer = try await HTTPExchange.get("/readyz", port: port)
            return answer.status == status ? answer : nil
        }
    }
}
