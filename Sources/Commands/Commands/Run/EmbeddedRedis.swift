import Edits
import Files
import FoundationEssentials
import Glibc
import Logging
import Redis
import Subprocess
import Synchronization
import SystemPackage

/// A private `redis-server` for one run: a Unix socket and an append-only file in the state folder.
///
/// A run that was killed with SIGKILL leaves its server running; the next run finds it at the socket and uses it.
struct EmbeddedRedis: Sendable {
    let url: RedisURL
    private let process: Task<Void, Never>?
    private let logger: Logger

    /// The time in which the server must start and load its append-only file.
    static let startTimeout: Duration = .seconds(60)
    /// The time in which it must stop before it is killed.
    static let stopTimeout: Duration = .seconds(10)

    /// Starts the server, or uses one that already runs.
    static func start(in state: StateFolder, _ logger: Logger) async throws -> EmbeddedRedis {
        let url = try RedisURL("unix://\(state.socket)")
        if await answers(url, within: .milliseconds(300), logger) {
            logger.notice("using the Redis of an earlier run")
            return EmbeddedRedis(url: url, process: nil, logger: logger)
        }
        let ended = Mutex<String?>(nil)
        var options = PlatformOptions()
        // The server leaves the terminal's process group: Ctrl-C goes to this process, which stops the server
        // gracefully.
        options.processGroupID = 0
        options.teardownSequence = [
            .gracefulShutDown(allowedDurationToNextStep: stopTimeout)
        ]
        let arguments = [
            "--port", "0", "--unixsocket", state.socket.string, "--unixsocketperm", "700",
            "--dir", state.redis.string, "--logfile", state.redisLog.string,
            "--appendonly", "yes", "--appendfsync", "everysec", "--save", "",
            "--maxmemory-policy", "noeviction", "--daemonize", "no",
        ]
        let process = Task { [options] in
            do {
                // Its files have the edits of all jobs, which only the user who started the run may read.
                let result = try await run(
                    .name("sh"),
                    arguments: Arguments(
                        ["-c", "umask 077; exec \"$0\" \"$@\"", "redis-server"] + arguments),
                    platformOptions: options, output: .discarded, error: .discarded)
                ended.withLock { $0 = "it ended with \(result.terminationStatus)" }
            } catch {
                ended.withLock { $0 = "it could not be started: \(error)" }
            }
        }
        let deadline = ContinuousClock.now + startTimeout
        while ContinuousClock.now < deadline {
            if await answers(url, within: .milliseconds(500), logger) {
                return EmbeddedRedis(url: url, process: process, logger: logger)
            }
            if ended.withLock({ $0 }) != nil { break }
        }
        let reason = ended.withLock { $0 } ?? "it did not answer within \(startTimeout)"
        process.cancel()
        throw Failure(
            .internalError,
            "the private redis-server did not start: \(reason). Is it installed (apt-get install "
                + "redis-server)? Its log: \(state.redisLog)")
    }

    /// Stops the server gracefully: it syncs its append-only file first.
    func stop() async {
        let client = RedisClient(RedisConfiguration(url: url), logger: logger)
        do {
            _ = try await client.send(["SHUTDOWN"], timeout: Self.stopTimeout)
        } catch {
            // Redis answers SHUTDOWN by closing the connection.
            logger.debug("Redis was asked to stop", metadata: ["answer": "\(error)"])
        }
        await client.close()
        // A server of an earlier run is not a child of this process, so there is nothing to wait for.
        await process?.value
    }

    private static func answers(
        _ url: RedisURL, within time: Duration, _ logger: Logger
    ) async -> Bool {
        let client = RedisClient(RedisConfiguration(url: url), logger: logger)
        var isThere = false
        do {
            isThere = try await client.send(["PING"], timeout: time).string == "PONG"
        } catch {
            logger.debug("no Redis yet", metadata: ["error": "\(error)"])
        }
        await client.close()
        return isThere
    }
}

/// The folder with all state of `minilab run`, from which a killed run continues.
struct StateFolder: Sendable {
    let path: FilePath

    /// The longest path of a Unix socket, by `sockaddr_un`, without the terminating zero.
    private static let socketPathMax = 107

    /// Creates or opens the folder and locks it for this process.
    init(_ path: FilePath) throws(Failure) {
        self.path = path.absolute
        do {
            try FileManager.default.createDirectory(
                atPath: redis.string, withIntermediateDirectories: true)
        } catch {
            throw Failure(.ioFailure, "the state folder \(path) cannot be made: \(error)")
        }
        try Self.keepPrivate(redis, 0o700)
        guard socket.string.utf8.count <= Self.socketPathMax else {
            throw Failure(
                .invalidValue,
                "the state folder's path is too long for a socket in it (\(socket) has "
                    + "\(socket.string.utf8.count) bytes, at most \(Self.socketPathMax) are allowed); "
                    + "give a shorter one with --state.")
        }
        // The kernel releases the lock when the process exits for any reason, so the file stays open until then.
        let lock = open(self.path.appending("lock").string, O_RDWR | O_CREAT | O_CLOEXEC, 0o666)
        guard lock >= 0, flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            throw Failure(
                .ioFailure,
                "another minilab run uses the state folder \(path) (or it cannot be written). Wait "
                    + "for it, or give another folder with --state.")
        }
        let file = open(log.string, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0, close(file) == 0 else {
            throw Failure(.ioFailure, "the log \(log) cannot be made: \(Errno.latest).")
        }
        try Self.keepPrivate(log, 0o600)
    }

    /// Keeps the jobs from the other users of this machine: Redis' files and the log have their edits. The folder itself stays open,
    /// because the library in it may be anyone's to read.
    private static func keepPrivate(_ path: FilePath, _ mode: mode_t) throws(Failure) {
        guard chmod(path.string, mode) == 0 else {
            throw Failure(
                .ioFailure,
                "\(path) cannot be made private: \(Errno.latest). It belongs to another user; give another folder with --state."
            )
        }
    }

    var redis: FilePath { path.appending("redis") }
    var socket: FilePath { redis.appending("redis.sock") }
    var redisLog: FilePath { redis.appending("redis.log") }
    var log: FilePath { path.appending("minilab.log") }
    var library: FilePath { path.appending("library") }
    var scratch: FilePath { path.appending("scratch") }
    var contactSheet: FilePath { path.appending("contact-sheet.jpg") }
}
