import Edits
import Files
import FoundationEssentials
import Glibc
import SystemPackage

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

    /// The folder of Redis.
    var redis: FilePath { path.appending("redis") }
    /// The socket of Redis.
    var socket: FilePath { redis.appending("redis.sock") }
    /// The log of Redis.
    var redisLog: FilePath { redis.appending("redis.log") }
    /// The log of the worker.
    var log: FilePath { path.appending("minilab.log") }
    /// The library.
    var library: FilePath { path.appending("library") }
    /// The downloads and unfinished versions of a library in a bucket.
    var scratch: FilePath { path.appending("scratch") }
    /// The contact sheet of all before-and-after pairs.
    var contactSheet: FilePath { path.appending("contact-sheet.jpg") }
}
