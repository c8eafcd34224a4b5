import Edits
import Foundation
import FoundationNetworking
import JobQueue
import MinilabTesting
import Redis
import Testing

/// Each folder of Tests/Releases has what the programs of a release left behind when it was cut (ops/freeze). The present programs must
/// go on with it, however long ago that was.
@Suite("What earlier releases left") struct FrozenReleaseTests {
    static let releases: [String] = {
        let folder = Repository.root.appending(path: "Tests/Releases").path
        do { return try FileManager.default.contentsOfDirectory(atPath: folder) } catch {
            return []
        }
    }()

    @Test func `there is what the base release left`() {
        #expect(Self.releases.contains("0.5.0"))
    }

    @Test(arguments: releases)
    func `its jobs end, its dead start again, its library is right and its keys open the door`(
        release: String
    ) async throws {
        let frozen = try FrozenRelease(release)
        let rig = try await Rig()
        try await frozen.load(into: rig)
        let own = rig.server.flags(as: .operator)

        // Before anything runs: each job is where it was, and the doctor finds nothing wrong.
        for (job, state) in frozen.jobs {
            let found = try await rig.queue.record(of: job)?.state.rawValue
            #expect(found == state, "\(job)")
        }
        let (health, doctor) = try await MinilabProcess.run(["doctor"] + own)
        // The leases of the workers that died have run out, if they did not die a minute ago.
        let wrong = doctor.split(separator: "\n").filter { $0.hasPrefix("wrong:") }
        #expect(health == .exited(wrong.isEmpty ? 0 : 1), "\(doctor)")
        #expect(
            wrong.count <= 1 && wrong.allSatisfy { $0.contains("2 leases expired long ago") },
            "\(doctor)")
        let (sound, before) = try await MinilabProcess.run(["verify", "--library", rig.library])
        #expect(sound == .exited(0), "\(before)")

        // What died of a missing original has it now.
        for name in ["missing.png", "gone.png"] {
            try rig.put(name, SyntheticPhoto.png(width: 30, height: 20))
        }
        // Records of jobs that were done, and died, longer ago than usual are looked at below, too.
        let worker = try rig.worker(
            "present",
            environment: ["MINILAB_KEEP_DONE": "3650d", "MINILAB_KEEP_DEAD": "3650d"])
        let (started, replayed) = try await MinilabProcess.run(["replay", "--all"] + own)
        #expect(
            started == .exited(0) && replayed.contains("1 job replayed"), "\(replayed)")
        let (restored, put) = try await MinilabProcess.run(
            ["replay", "--file", frozen.file("dead.ndjson")] + own)
        #expect(restored == .exited(0) && put.contains("1 job replayed"), "\(put)")

        // A lease of a worker that died when it was frozen may still run, if that was a minute ago.
        for job in frozen.jobs.keys.sorted() {
            let record = try await eventually("\(job) has ended", within: .seconds(300)) {
                let record = try await rig.queue.record(of: job)
                return record?.state == .done ? record : nil
            }
            #expect(
                ["completed", "drafted", "unchanged", "superseded"].contains(record.outcome),
                "\(job): \(record.outcome ?? "")")
        }
        #expect(try await rig.queue.status().isDrained)
        worker.kill(SIGTERM)
        #expect(try await worker.waitForEnd() == .exited(0), "\(worker.output)")

        // What it had published is there to the byte, beside what was made on top of it.
        for (path, digest) in frozen.files {
            let bytes = try Data(contentsOf: URL(filePath: rig.library + "/" + path))
            let found = SHA256.hash(data: bytes).map { String(format: "%02x", $0) }.joined()
            #expect(found == digest, "\(path)")
        }
        let (right, verified) = try await MinilabProcess.run([
            "verify", "--all-versions", "--library", rig.library,
        ])
        #expect(right == .exited(0), "\(verified)")
        let (mended, after) = try await MinilabProcess.run(["doctor"] + own)
        #expect(mended == .exited(0), "\(after)")
        try await checkKeys(of: frozen, rig, release)
    }

    /// What the keys of a gateway have, by their names without the prefix.
    private func records(_ rig: Rig, below prefix: String) async throws -> [String: [UInt8]?] {
        var records: [String: [UInt8]?] = [:]
        for name in ["keys", "audit", "webhooks", "keys:uploads"] {
            let key = RedisArgument(prefix + name)
            guard try await rig.redis.send(["EXISTS", key]).int == 1 else { continue }
            records[name] = try await rig.redis.send(["DUMP", key]).bytes
        }
        return records
    }

    /// Shows each key to a gateway, which first moves them to where no worker reaches them.
    private func checkKeys(
        of frozen: FrozenRelease, _ rig: Rig, _ release: String
    ) async throws {
        let (old, new) = ("minilab:{photos}:", "minilab-gateway:{photos}:")
        let here = try await records(rig, below: new)
        let before = try await records(rig, below: old)
        #expect(Set((release == "0.5.0" ? before : here).keys) == ["keys", "audit"])
        let (listed, list) = try await MinilabProcess.run(
            ["key", "list"] + rig.server.flags(as: .operator))
        #expect(listed == .exited(0), "\(list)")
        for secret in frozen.secrets {
            #expect(list.contains(secret.split(separator: "_")[1]), "\(list)")
        }
        #expect(try await records(rig, below: new) == here, "a command moves nothing")
        let gateway = try MinilabProcess(
            ["gateway", "--library", rig.library, "--port", "0"] + rig.server.flags(as: .gateway))
        let port = try await portOfReady(gateway)
        #expect(try await records(rig, below: new) == (release == "0.5.0" ? before : here))
        for name in before.keys {
            let left = try await rig.redis.send(["GET", RedisArgument(old + name)]).string
            #expect(left?.hasPrefix("moved") == true, "\(name): \(left ?? "")")
        }
        // Programs that would look in the old places are refused from now on.
        let format = try await rig.redis.send([
            "HMGET", "minilab:{photos}:virtual", "format", "least",
        ])
        #expect(format.array?.compactMap(\.int).min() ?? 0 >= 2)
        func status(_ secret: String) async throws -> Int? {
            var request = URLRequest(
                url: try #require(URL(string: "http://127.0.0.1:\(port)/v1/jobs/unknown")))
            request.setValue("Bearer \(secret)", forHTTPHeaderField: "Authorization")
            return (try await URLSession.shared.data(for: request).1 as? HTTPURLResponse)?
                .statusCode
        }
        for secret in frozen.secrets {
            #expect(try await status(secret) == 404, "a key that is known gets an answer")
            #expect(try await status(secret.replacing("_", with: "_0")) == 401)
        }
        gateway.kill(SIGTERM)
        #expect(try await gateway.waitForEnd() == .exited(0), "\(gateway.output)")
    }
}

/// A folder of Tests/Releases.
struct FrozenRelease {
    private let folder: URL
    /// The state of each job's record; nil for none.
    let jobs: [String: String?]
    /// The digests of the current versions' files.
    let files: [String: String]
    let secrets: [String]

    private struct Expected: Decodable {
        struct Key: Decodable { let secret: String }
        let jobs: [String: String?]
        let files: [String: String]
        let keys: [Key]
    }

    init(_ release: String) throws {
        folder = Repository.root.appending(path: "Tests/Releases/\(release)")
        let expected = try JSONDecoder().decode(
            Expected.self, from: Data(contentsOf: folder.appending(path: "expected.json")))
        (jobs, files, secrets) = (expected.jobs, expected.files, expected.keys.map(\.secret))
    }

    func file(_ name: String) -> String { folder.appending(path: name).path }

    /// Puts the library into the rig's folder, and has its Redis start with the queue.
    func load(into rig: Rig) async throws {
        try FileManager.default.removeItem(atPath: rig.library)
        _ = try Tool.run(
            "/usr/bin/env", ["tar", "-xzf", file("library.tar.gz"), "-C", rig.folder.path])
        rig.server.kill(SIGTERM)
        try await rig.server.waitForEnd()
        // The name of a file that Redis appends to; it is the first, so it has all.
        let own = rig.server.folder.file("appendonlydir")
        try FileManager.default.removeItem(atPath: own)
        try FileManager.default.createDirectory(
            atPath: own, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            atPath: file("queue.aof"), toPath: own + "/appendonly.aof.1.incr.aof")
        try Data("file appendonly.aof.1.incr.aof seq 1 type i\n".utf8)
            .write(to: URL(filePath: own + "/appendonly.aof.manifest"))
        try await rig.server.launch()
        try await eventually("Redis has read the file") {
            do {
                return try await rig.redis.send(["HLEN", "minilab:{photos}:virtual"]).int ?? 0 > 0
                    ? () : nil
            } catch { return nil }
        }
    }
}
