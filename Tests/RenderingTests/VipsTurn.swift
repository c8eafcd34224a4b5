import Glibc
import Testing
import Codecs

/// The order of work with libvips in this process.
///
/// libvips has one number of threads, one height of tiles and one error text for the whole process, and in service a
/// process renders one photo at a time. Renders that leave the first two alone can run beside each other.
enum VipsTurn {
    /// A lock of POSIX, because Swift's has no readers.
    private final class Lock: @unchecked Sendable {
        private let lock = UnsafeMutablePointer<pthread_rwlock_t>.allocate(capacity: 1)

        init() { pthread_rwlock_init(lock, nil) }

        func read() { pthread_rwlock_rdlock(lock) }
        func write() { pthread_rwlock_wrlock(lock) }
        func unlock() { pthread_rwlock_unlock(lock) }
    }

    private static let lock = Lock()

    /// Does work beside other work of this kind, with one thread of libvips.
    ///
    /// Work that fails is repeated alone, because its error may have another's text. It is an issue if it then succeeds.
    static func shared<Result>(_ work: () throws -> Result) throws -> Result {
        let failure: any Error
        do {
            lock.read()
            defer { lock.unlock() }
            return try work()
        } catch {
            failure = error
        }
        let result = try alone(work)
        Issue.record(failure, "it failed beside other renders, and not alone")
        return result
    }

    /// Does work that no other test of libvips runs beside.
    static func alone<Result>(threads: Int = 1, _ work: () throws -> Result) rethrows -> Result {
        lock.write()
        defer { lock.unlock() }
        VipsLibrary.threads = threads
        // Whatever the work sets, work beside others has one thread.
        defer { VipsLibrary.threads = 1 }
        return try work()
    }
}
