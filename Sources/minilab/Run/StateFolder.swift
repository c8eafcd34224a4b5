import Adjustments
import FoundationEssentials
import Glibc
import SystemPackage

/// The folder that `minilab run` keeps everything in, so that a run that was killed can go on.
struct StateFolder: Sendable {
    let path: FilePath

    /// The longest path of a Unix socket, by `sockaddr_un`; one byte is the ending zero.
    private static let socketPathMax = 107

    /// Makes or opens it, for this process alone.
    init(_ path: FilePath) throws(Failure) {
        self.path = path.absolute
        do {
            try FileManager.default.createDirectory(
                atPath: redis.string, withIntermediateDirectories: true)
        } catch {
            throw Failure(.ioFailure, "the state folder \(path) cannot be made: \(error)")
        }
        guard socket.string.utf8.count <= Self.socketPathMax else {
            throw Failure(
                .invalidValue,
                "the state folder's path is too long for a socket in it (\(socket) has "
                    + "\(socket.string.utf8.count) bytes, at most \(Self.socketPathMax) are allowed); "
                    + "give a shorter one with --state.")
        }
        // The lock goes with the process, however it ends; so the file stays open until then.
        let lock = open(self.path.appending("lock").string, O_RDWR | O_CREAT | O_CLOEXEC, 0o666)
        guard lock >= 0, flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            throw Failure(
                .ioFailure,
                "another minilab run uses the state folder \(path) (or it cannot be written). Wait "
                    + "for it, or give another folder with --state.")
        }
    }

    /// Redis' files.
    var redis: FilePath { path.appending("redis") }
    /// Redis' socket.
    var socket: FilePath { redis.appending("redis.sock") }
    /// What Redis says.
    var redisLog: FilePath { redis.appending("redis.log") }
    /// What the worker says.
    var log: FilePath { path.appending("minilab.log") }
    /// The library.
    var library: FilePath { path.appending("library") }
    /// Downloads and versions in the making, for a library in a bucket.
    var scratch: FilePath { path.appending("scratch") }
    /// The picture of all befores and afters.
    var contactSheet: FilePath { path.appending("contact-sheet.jpg") }
}
