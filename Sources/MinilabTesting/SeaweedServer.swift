import Foundation
import Synchronization

/// A private SeaweedFS, an S3-compatible store, for the tests of one process.
///
/// It listens on ports of 127.0.0.1 only, keeps its data in a folder of its own and ends with its last
/// reference or with the test process (see `Watchdog`). A test makes a bucket of its own in it.
public final class SeaweedServer: Sendable {
    /// The longest wait for a server that starts; with nothing else to do it takes one second.
    static let startTimeout = Duration.seconds(60)
    /// How often a starting server is asked whether it is ready.
    static let pollInterval = Duration.milliseconds(50)
    /// How many sets of ports are tried: another process may take one that was free a moment ago.
    static let triesMax = 5

    /// The `weed` that `MINILAB_WEED` names, or the first in PATH; nil means that there is none.
    public static let program: String? = Programs.find("weed", named: "MINILAB_WEED")

    /// The port of its S3 side.
    public let port: Int
    private let filerPort: Int
    private let folder: TemporaryFolder
    private let process: ChildProcess
    private let watchdog: Watchdog

    /// Where its S3 side is, without a bucket.
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
                guard tries < triesMax, server.log.contains("address already in use") else {
                    throw error
                }
                tries += 1
            }
        }
    }

    /// Makes a bucket: a folder of the server's file side.
    public func makeBucket(_ name: String) async throws {
        let answer = try await HTTPExchange.send(
            "POST /buckets/\(name)/ HTTP/1.0\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n",
            port: filerPort)
        guard answer.status == 201 else {
            throw TestingFailure("weed made no bucket \(name): \(answer.text)")
        }
    }

    /// The text of its log.
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
            // Go keeps what it once had; a limit makes it give memory back.
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
        while ContinuousClock.now < end {
            do {
                // HTTP/1.0, so that the server closes.
                let answer = try await HTTPExchange.send(
                    "GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n", port: port)
                if answer.status == 200 { return }
            } catch {
                // Nobody listens there yet.
            }
            try await Task.sleep(for: Self.pollInterval)
        }
        throw TestingFailure("weed is not ready within \(Self.startTimeout); its log: \(log)")
    }
}
