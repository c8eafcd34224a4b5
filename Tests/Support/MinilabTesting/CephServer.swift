import Foundation

/// A private Ceph object gateway, an S3-compatible store, with a monitor and one OSD in memory.
///
/// It listens on 127.0.0.1 only, keeps its files in a folder of its own and stops with its last reference or with the
/// test process (see `Watchdog`). A start takes 14 s, most of which the gateway needs to create its pools.
public final class CephServer: Sendable {
    /// The longest wait for the gateway; on an idle machine it takes 11 s.
    static let startTimeout = Duration.seconds(120)
    /// The number of attempts to start, because another process may take a port that was free a moment ago.
    static let triesMax = 3
    /// The interval at which a starting gateway is asked whether it is ready.
    static let pollInterval = Duration.milliseconds(100)

    /// The `radosgw` that `MINILAB_RADOSGW` names; nil to skip its tests, as in everyday runs, because it takes a
    /// minute more and 300 MB.
    ///
    /// Debian's `ceph-mon`, `ceph-osd` and `ceph-common` must be in PATH, too.
    public static let program = ProcessInfo.processInfo.environment["MINILAB_RADOSGW"]

    /// The port of its S3 interface.
    public let port: Int
    private let folder: TemporaryFolder
    private let processes: [Watched]

    private typealias Watched = (child: ChildProcess, watchdog: Watchdog)

    /// The URL of its S3 interface, without a bucket.
    public var endpoint: String { "http://127.0.0.1:\(port)" }

    /// Starts a server and waits until it is ready.
    public static func start(_ program: String) async throws -> CephServer {
        var tries = 1
        while true {
            do {
                let server = try CephServer(program)
                try await server.waitUntilReady()
                return server
            } catch {
                guard tries < triesMax else { throw error }
                tries += 1
            }
        }
    }

    private init(_ program: String) throws {
        folder = try TemporaryFolder()
        port = try RedisServer.freePort()
        processes = try Self.processes(of: program, folder, port)
    }

    private static func processes(
        of program: String, _ folder: TemporaryFolder, _ port: Int
    ) throws -> [Watched] {
        let cluster = UUID().uuidString.lowercased()
        let monitor = "[v1:127.0.0.1:\(try RedisServer.freePort())]"
        for name in ["mon", "osd", "rgw", "run"] {
            try FileManager.default.createDirectory(
                atPath: folder.file(name), withIntermediateDirectories: false)
        }
        let file = folder.file("ceph.conf")
        try settings(folder, cluster, monitor, port)
            .write(toFile: file, atomically: false, encoding: .utf8)
        func run(_ program: String, _ arguments: [String]) throws -> String {
            String(
                decoding: try Tool.run("/usr/bin/env", [program, "--conf", file] + arguments),
                as: UTF8.self)
        }
        var processes: [Watched] = []
        func start(_ program: String, _ arguments: [String]) throws {
            let child = try ChildProcess(
                [program, "--conf", file, "-f"] + arguments, log: folder.file("log"))
            do {
                processes.append((child, try Watchdog(over: child, folder: folder.path)))
            } catch {
                child.end()
                throw error
            }
        }
        do {
            let map = folder.file("monmap")
            _ = try Tool.run(
                "/usr/bin/env",
                ["monmaptool", "--create", "--fsid", cluster, "--addv", "a", monitor, map])
            _ = try run("ceph-mon", ["--mkfs", "-i", "a", "--monmap", map])
            try start("ceph-mon", ["-i", "a"])
            let disk = UUID().uuidString.lowercased()
            let id = try run("ceph", ["osd", "new", disk])
                .trimmingCharacters(in: .whitespacesAndNewlines)
            _ = try run("ceph-osd", ["-i", id, "--mkfs", "--osd-uuid", disk])
            _ = try run("ceph", ["osd", "crush", "add", "osd.\(id)", "1", "root=default"])
            try start("ceph-osd", ["-i", id])
            try start(program, ["-n", "client.rgw"])
            for keys in [StoreKeys.admin, .reader, .limited] {
                _ = try run(
                    "radosgw-admin",
                    [
                        "user", "create", "--uid=\(keys.name)", "--display-name=\(keys.name)",
                        "--access-key=\(keys.accessKey)", "--secret-key=\(keys.secretKey)",
                        "--caps=user-policy=\(keys == .admin ? "*" : "read")",
                    ])
            }
            return processes
        } catch {
            end(processes)
            throw error
        }
    }

    deinit { Self.end(processes) }

    private static func end(_ processes: [Watched]) {
        for (child, watchdog) in processes.reversed() {
            child.end()
            watchdog.stop()
        }
    }

    /// Returns the settings: one of each daemon, nothing on a disk, and no authentication between daemons, because all
    /// are on 127.0.0.1.
    private static func settings(
        _ folder: TemporaryFolder, _ cluster: String, _ monitor: String, _ port: Int
    ) -> String {
        let settings = [
            ("fsid", cluster), ("mon host", monitor), ("public network", "127.0.0.0/8"),
            ("ms bind ipv6", "false"), ("auth cluster required", "none"),
            ("auth service required", "none"), ("auth client required", "none"),
            ("osd pool default size", "1"), ("osd pool default min size", "1"),
            ("osd pool default pg num", "1"), ("osd pool default pgp num", "1"),
            ("osd crush chooseleaf type", "0"), ("mon allow pool size one", "true"),
            ("mon max pg per osd", "1000"), ("mon data avail crit", "1"),
            ("osd objectstore", "memstore"),
            // This work at start is already done, and it failed now and then with "wrong fsid", which stops the OSD.
            ("osd class update on start", "false"), ("osd crush update on start", "false"),
            ("memstore device bytes", "4294967296"),
            ("osd memory target", "939524096"), ("run dir", folder.file("run")),
            ("admin socket", folder.file("run/$name.asok")),
            ("log file", folder.file("$name.log")), ("mon data", folder.file("mon")),
            ("osd data", folder.file("osd")), ("rgw data", folder.file("rgw")),
            ("rgw frontends", "beast endpoint=127.0.0.1:\(port)"),
        ]
        return "[global]\n" + settings.map { "\($0) = \($1)\n" }.joined()
    }

    private func waitUntilReady() async throws {
        let end = ContinuousClock.now + Self.startTimeout
        while ContinuousClock.now < end {
            do {
                // The request is HTTP/1.0, so that the server closes the connection.
                let answer = try await HTTPExchange.send(
                    "GET / HTTP/1.0\r\nHost: localhost\r\n\r\n", port: port)
                if answer.status == 200 { return }
            } catch {
                // The server does not listen yet.
            }
            try await Task.sleep(for: Self.pollInterval)
        }
        throw TestingFailure(
            "radosgw is not ready within \(Self.startTimeout); its log: "
                + folder.text(of: "client.rgw.log").suffix(4_096))
    }
}
