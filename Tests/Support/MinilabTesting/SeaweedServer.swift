import Foundation
import Synchronization

/// A private SeaweedFS, an S3-compatible store, for the tests of one process.
///
/// It listens on ports of 127.0.0.1 only, keeps its data in a folder of its own and stops with its last reference or
/// with the test process (see `Watchdog`). Each test creates its own bucket in it.
public final class SeaweedServer: Sendable {
    /// The longest wait for a server to start; on an idle machine it takes 1 s.
    static let startTimeout = Duration.seconds(60)
    /// The interval at which a starting server is asked whether it is ready.
    static let pollInterval = Duration.milliseconds(50)
    /// The number of port sets to try, because another process may take a port that was free a moment ago.
    static let triesMax = 5

    /// The `weed` that `MINILAB_WEED` names, or the first one in PATH; nil if there is none.
    public static let program: String? = Programs.find("weed", named: "MINILAB_WEED")

    /// The port of its S3 interface.
    public let port: Int
    private let filerPort: Int
    private let folder: TemporaryFolder
    private let process: ChildProcess
    private let watchdog: Watchdog

    /// The URL of its S3 interface, without a bucket.
    public var endpoint: String { "http://127.0.0.1:\(port)" }

    /// Starts a server and waits until it is ready.
    public static func start(_ program: String) async throws -> SeaweedServer {
        var tries = 1
        while true {
            let server = try SeaweedServer(program)
            do {
                try await server.waitUntilReady()
                return server
            } catch {
                guard tries < triesMax, server.lacksPort else { throw error }
                tries += 1
            }
        }
    }

    /// Creates a bucket, as a folder through the server's file interface.
    public func makeBucket(_ name: String) async throws {
        let answer = try await HTTPExchange.send(
            "POST /buckets/\(name)/ HTTP/1.0\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n",
            port: filerPort)
        guard answer.status == 201 else {
            throw TestingFailure("weed made no bucket \(name): \(answer.text)")
        }
    }

    /// Whether it has ended because another process took one of its ports.
    private var lacksPort: Bool {
        ["address already in use", "Port allocation failed"].contains { log.contains($0) }
    }

    /// The text of the server's log.
    public var log: String { folder.text(of: "weed.log") }

    private init(_ program: String) throws {
        folder = try TemporaryFolder()
        let data = folder.file("data")
        try FileManager.default.createDirectory(
            atPath: data, withIntermediateDirectories: false)
        let (admin, reader) = (StoreKeys.admin, StoreKeys.reader)
        let identities = """
            {"identities":[
             {"name":"admin","credentials":[{"accessKey":"\(admin.accessKey)","secretKey":"\(admin.secretKey)"}],
              "actions":["Admin","Read","Write","List","Tagging"]},
             {"name":"reader","credentials":[{"accessKey":"\(reader.accessKey)","secretKey":"\(reader.secretKey)"}],
              "actions":["Read","List"]}]}
            """
        try identities.write(
            toFile: folder.file("s3.json"), atomically: false, encoding: .utf8)
        port = try RedisServer.freePort()
        filerPort = try RedisServer.freePort()
        var command = [
            // Go's runtime keeps freed memory; a limit makes it return memory to the system.
            "env", "GOMEMLIMIT=160MiB", "GOGC=50", program, "-logtostderr", "mini", "-dir=\(data)",
            "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-master.telemetry=false", "-admin.ui=false",
            "-webdav=false", "-s3.port=\(port)", "-s3.port.iceberg=0", "-s3.port.lance=0",
            "-s3.config=\(folder.file("s3.json"))", "-s3.autoCreateBucket=false",
            "-volume.max=0", "-master.volumeSizeLimitMB=64",
            "-filer.localSocket=\(folder.file("filer.sock"))",
            "-s3.localSocket=\(folder.file("s3.sock"))", "-filer.port=\(filerPort)",
        ]
        for name in [
            "s3.port.grpc", "master.port", "master.port.grpc", "volume.port", "volume.port.grpc",
            "filer.port.grpc", "admin.port", "admin.port.grpc",
        ] {
            command.append("-\(name)=\(try RedisServer.freePort())")
        }
        process = try ChildProcess(command, log: folder.file("weed.log"))
        do {
            watchdog = try Watchdog(over: process, folder: folder.path)
        } catch {
            process.end()
            throw error
        }
    }

    deinit {
        process.end()
        watchdog.stop()
    }

    private func waitUntilReady() async throws {
        let end = ContinuousClock.now + Self.startTimeout
        while ContinuousClock.now < end, !lacksPort {
            do {
                // The request is HTTP/1.0, so that the server closes the connection.
                let answer = try await HTTPExchange.send(
                    "GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n", port: port)
                if answer.status == 200 { return }
            } catch {
                // The server does not listen yet.
            }
            try await Task.sleep(for: Self.pollInterval)
        }
        throw TestingFailure("weed is not ready within \(Self.startTimeout); its log: \(log)")
    }
}
