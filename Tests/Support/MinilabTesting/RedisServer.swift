import Foundation
import Synchronization

/// A private `redis-server` for one test.
///
/// It has the settings of `ops/redis.conf` and the users of `ops/redis-users.conf`, as people run it; their keys are those of any queue.
/// It listens on a port of 127.0.0.1 and on a Unix socket, keeps its data in a folder of its own and stops with
/// `stop()`, with the last reference or with the test process (see `Watchdog`).
///
///     let server = try await RedisServer.start()
///     … ["worker", "--redis", server.url(as: .worker)] …
///     server.stop()
public final class RedisServer: Sendable {
    /// The longest wait for a server to start or stop.
    static let startTimeout = Duration.seconds(60)
    /// The interval at which a starting server is asked whether it is ready.
    static let pollInterval = Duration.milliseconds(5)
    /// The number of ports to try, because another process may take one that was free a moment ago.
    static let portsMax = 5

    /// The port on 127.0.0.1; for TLS if the server has certificates.
    public let port: Int
    /// The server's folder, with its log, its data and its socket.
    public let folder: TemporaryFolder
    private let certificates: TestCertificates?
    private let exception: RedisException?
    private let command: [String]
    private let running: Mutex<(process: ChildProcess, watchdog: Watchdog)?>

    /// The user of a test that plays many roles; nil for a server without users.
    var admin: RedisUser? { exception == nil ? .admin : nil }

    /// The URL over TCP of the user `admin`, for a test that plays many roles.
    public var url: String { url(as: admin) }

    /// The URL over TCP, with a user's login or none; `rediss` if the server has certificates.
    public func url(as user: RedisUser?) -> String {
        let login = user?.login ?? ""
        return certificates == nil
            ? "redis://\(login)127.0.0.1:\(port)/0" : "rediss://\(login)localhost:\(port)/0"
    }

    /// The flags with which a user's program comes over TCP, as the documents say: the password is in a file.
    public func flags(as user: RedisUser) -> [String] {
        [
            "--redis", url(as: nil), "--redis-user", user.rawValue, "--redis-password-file",
            folder.file(user.rawValue),
        ]
    }

    /// The URL of the Unix socket, which never uses TLS, of the user `admin`.
    public var socketURL: String { "unix://" + (admin?.login ?? "") + folder.file("redis.sock") }

    /// The process id of the server; nil while it does not run.
    public var pid: Int32? { running.withLock { $0?.process.pid } }

    /// Starts a server and waits until it answers.
    ///
    /// - Parameters:
    ///   - syncsEachWrite: Whether each write is on disk before its answer, so that a killed server has all that it answered.
    ///   - certificates: The server's certificates; with them, its TCP port uses TLS only.
    ///   - clientsNeedCertificates: Whether TLS clients must have a certificate of the same authority.
    ///   - program: The server program: `redis-server`, or another one with the same arguments.
    ///   - settings: The text of a settings file that the server may rewrite; nil for no file.
    ///   - exception: Why it is not as people run it; nil: it is.
    ///   - arguments: More arguments for `redis-server`, such as `["--maxmemory", "2mb"]`.
    public static func start(
        syncsEachWrite: Bool = false, certificates: TestCertificates? = nil,
        clientsNeedCertificates: Bool = false, program: String = "redis-server",
        settings: String? = nil, exception: RedisException? = nil, arguments: [String] = []
    ) async throws -> RedisServer {
        var tries = 1
        while true {
            let server = try RedisServer(
                syncsEachWrite: syncsEachWrite, certificates: certificates,
                clientsNeedCertificates: clientsNeedCertificates, program: program,
                settings: settings, exception: exception, arguments: arguments)
            do {
                try await server.launch()
                return server
            } catch {
                guard tries < portsMax, server.log.contains("Address already in use") else {
                    throw error
                }
                tries += 1
            }
        }
    }

    private init(
        syncsEachWrite: Bool, certificates: TestCertificates?, clientsNeedCertificates: Bool,
        program: String, settings: String?, exception: RedisException?, arguments: [String]
    ) throws {
        folder = try TemporaryFolder()
        port = try Self.freePort()
        self.certificates = certificates
        self.exception = exception
        var command = [program]
        if let settings {
            let file = folder.file("redis.conf")
            try settings.write(toFile: file, atomically: false, encoding: .utf8)
            command.append(file)
        }
        command += [
            "--bind", "127.0.0.1", "--dir", folder.path, "--save", "",
            "--unixsocket", folder.file("redis.sock"),
        ]
        if exception == nil {
            command += try DocumentedRedis.settings()
            command += ["--aclfile", try DocumentedRedis.users(in: folder, ofEveryQueue: true)]
            for user in RedisUser.allCases {
                try Data(user.password.utf8).write(to: URL(filePath: folder.file(user.rawValue)))
            }
            // A replica logs in at its master.
            command += [
                "--masteruser", RedisUser.admin.rawValue, "--masterauth", RedisUser.admin.password,
            ]
        }
        if syncsEachWrite { command += ["--appendfsync", "always"] }
        if let certificates {
            command += [
                "--port", "0", "--tls-port", String(port),
                "--tls-ca-cert-file", certificates.authority,
                "--tls-cert-file", certificates.server.certificate,
                "--tls-key-file", certificates.server.key,
                "--tls-auth-clients", clientsNeedCertificates ? "yes" : "no",
            ]
        } else {
            command += ["--port", String(port)]
        }
        self.command = command + arguments
        running = Mutex(nil)
    }

    deinit {
        end()
    }

    /// The text of the server's log.
    public var log: String { folder.text(of: "redis.log") }

    /// Sends a signal to the server, such as `SIGKILL`, `SIGSTOP` or `SIGCONT`, and returns at once.
    public func kill(_ signal: Int32) {
        running.withLock { $0?.process.send(signal) }
    }

    /// Stops the server gracefully if it runs, and starts it again on the same port.
    public func restart() async throws {
        kill(SIGTERM)
        try await waitForEnd()
        try await launch()
    }

    /// Waits until the server has exited, after a signal that stops it.
    public func waitForEnd() async throws {
        guard let (process, watchdog) = running.withLock({ $0 }) else { return }
        try await process.wait(atMost: Self.startTimeout)
        watchdog.stop()
        running.withLock { $0 = nil }
    }

    /// Starts the server again on the same port after `waitForEnd()`, and waits until it answers.
    public func launch() async throws {
        let process = try ChildProcess(command, log: folder.file("redis.log"))
        do {
            let watchdog = try Watchdog(over: process, folder: folder.path)
            running.withLock { $0 = (process, watchdog) }
        } catch {
            process.end()
            throw error
        }
        let end = ContinuousClock.now + Self.startTimeout
        while !answers() {
            if try process.status() != nil {
                running.withLock { $0.take()?.watchdog.stop() }
                throw TestingFailure("redis-server ended at once; its log: \(log)")
            }
            guard ContinuousClock.now < end else {
                throw TestingFailure(
                    "redis-server has not answered within \(Self.startTimeout); its log: \(log)")
            }
            try await Task.sleep(for: Self.pollInterval)
        }
    }

    /// Kills the server. The last reference removes its folder.
    public func stop() {
        end()
    }

    private func end() {
        running.withLock { running in
            guard let (process, watchdog) = running.take() else { return }
            process.end()
            watchdog.stop()
        }
    }
}
