import Edits
import Foundation
import JobQueue
import Logging
import MinilabTesting
import Redis
import Testing

/// Workers and commands on a Redis as it is run: found by sentinels or a cluster, TLS with client
/// certificates, the users of `ops/redis-users.conf`, a master that dies.
@Suite("Redis as it is run", .serialized) struct RedisTopologyTests {
    private let folder: TemporaryFolder
    private let certificates: TestCertificates

    init() async throws {
        folder = try TemporaryFolder()
        certificates = try await TestCertificates()
    }

    @Test func `sentinels lead workers and commands to the master, and to the next one`()
        async throws
    {
        let set = try await RedisSentinels.start(certificates: certificates)
        try await check(set.url) {
            set.master.kill(SIGKILL)
            try await set.master.waitForEnd()
        }
    }

    @Test func `a cluster leads workers and commands to their node, and to the next one`()
        async throws
    {
        let cluster = try await RedisCluster.start(
            hasReplicas: true, certificates: certificates)
        let slot = try await cluster.masters[0].command("CLUSTER", "KEYSLOT", "minilab:{photos}:in")
        let home = cluster.masters[(Int(slot) ?? 0) / 5462]
        try await check(cluster.url) {
            home.kill(SIGKILL)
            try await home.waitForEnd()
        }
    }

    /// Renders a photo, takes the master away, and renders another.
    private func check(
        _ url: (_ login: String) -> String, killMaster: () async throws -> Void
    ) async throws {
        let library = folder.file("library")
        try FileManager.default.createDirectory(
            atPath: library + "/originals", withIntermediateDirectories: true)
        for asset in ["a.png", "b.png"] {
            try SyntheticPhoto.png(width: 30, height: 20)
                .write(to: URL(filePath: "\(library)/originals/\(asset)"))
        }
        let tls = [
            "--redis-ca", certificates.authority, "--redis-certificate",
            certificates.client.certificate, "--redis-key", certificates.client.key,
        ]
        let worker = try MinilabProcess(
            ["worker", "--library", library, "--redis", url("worker:change-me-worker@")] + tls)
        let operatorURL = url("operator:change-me-operator@")
        try await enqueue("a.png", operatorURL, tls)
        try await killMaster()
        try await enqueue("b.png", operatorURL, tls)
        worker.kill(SIGTERM)
        #expect(try await worker.waitForEnd() == .exited(0), "\(worker.output)")
    }

    /// Adds a job with one command and waits for its end with another, whose settings come from the
    /// environment.
    private func enqueue(_ asset: String, _ url: String, _ tls: [String]) async throws {
        // During a failover the command ends with an error that says whether it may be repeated.
        try await eventually("\(asset) is enqueued", within: .seconds(300)) {
            let (ending, _) = try await MinilabProcess.run(
                ["enqueue", asset, "--filter", "CISepiaTone", "--redis", url] + tls)
            return ending == .exited(0) ? true : nil
        }
        try await eventually("\(asset) is rendered", within: .seconds(300)) {
            let (ending, output) = try await MinilabProcess.run(
                ["events", "--json"],
                environment: [
                    "MINILAB_REDIS": url, "MINILAB_REDIS_CA": tls[1],
                    "MINILAB_REDIS_CERTIFICATE": tls[3], "MINILAB_REDIS_KEY": tls[5],
                ])
            let isRendered = output.split(separator: "\n").contains {
                $0.contains("job.completed") && $0.contains(asset)
            }
            return ending == .exited(0) && isRendered ? true : nil
        }
    }
}
