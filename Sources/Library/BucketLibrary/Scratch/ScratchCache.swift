import Edits
import Files
import FoundationEssentials
import Glibc
import Synchronization
import SystemPackage

/// The downloaded objects of a bucket on this machine: `<scratch>/cache/<sha256>`, each downloaded once, with a
/// bound on their total size.
///
/// An open file is not removed, because its ``Lease`` pins it. A download must reserve its bytes before it begins;
/// if all bytes are in use it waits. Nothing is synced, and files of an earlier process are not trusted: the folder
/// is emptied at the start.
final class ScratchCache: Sendable {
    let folder: FilePath
    /// The largest total size, in bytes.
    let bytesMax: Int
    private let waitMax: Duration
    private let files = FileSystem()
    private let state: Mutex<State>
    /// A lock that is held as long as this object lives: another process on this machine uses a folder of its own.
    private let lock: OpenFile

    private struct State {
        var ledger: ScratchLedger
        var queue: [Waiter] = []
        var ids = 0
    }

    private struct Waiter {
        let id: Int
        let bytes: Int
        let answer: CheckedContinuation<Bool, Never>
        /// The timer that ends the wait. It is cancelled if room is found first.
        let clock: Task<Void, Never>
    }

    /// The longest wait for room: several renders must end first, and each may take minutes.
    static let waitMax = Duration.seconds(1800)
    /// The number of free bytes below which a disk counts as full, because results are written to it, too.
    static let freeBytesMin = 64 << 20
    /// The most processes of one machine that share a scratch folder.
    private static let foldersMax = 16

    /// Opens a cache and empties it.
    ///
    /// - Throws: `ioFailure`, `noSpace`.
    init(scratch: FilePath, bytesMax: Int, waitMax: Duration = ScratchCache.waitMax) throws(Failure)
    {
        (lock, folder) = try Self.lockFolder(scratch, files)
        self.waitMax = waitMax
        self.bytesMax = bytesMax
        state = Mutex(State(ledger: ScratchLedger(bytesMax: bytesMax)))
        for name in try files.list(folder) { try files.remove(folder.appending(name)) }
    }

    private static func lockFolder(
        _ scratch: FilePath, _ files: FileSystem
    ) throws(Failure) -> (OpenFile, FilePath) {
        for number in 0..<foldersMax {
            let folder = scratch.appending(number == 0 ? "cache" : "cache-\(number)")
            try files.makeFolder(folder)
            let path = FilePath(folder.string + ".lock")
            if case .ours(let file) = try FileSystem.lock(path, O_RDWR | O_CREAT) {
                return (file, folder)
            }
        }
        throw Failure(
            .ioFailure,
            "\(foldersMax) processes use the scratch folder \(scratch) already. Give this one another."
        )
    }

    /// Keeps a file in the cache as long as this object lives.
    final class Lease: Sendable {
        let sha256: String
        private let cache: ScratchCache

        /// Adopts a pin of the ledger.
        fileprivate init(_ sha256: String, _ cache: ScratchCache) {
            (self.sha256, self.cache) = (sha256, cache)
        }

        deinit { cache.unpin(sha256) }
    }

    /// Returns a lease of a cached file; nil if it is not cached.
    func lease(_ sha256: String) -> Lease? {
        state.withLock { $0.ledger.pin(sha256) } ? Lease(sha256, self) : nil
    }

    /// Opens a leased file with a separate descriptor.
    ///
    /// - Parameter name: the name of the file in messages.
    /// - Throws: `ioFailure`, also if the file was removed by another program. The next call downloads it again.
    func open(_ lease: Lease, name: String) throws(Failure) -> OpenFile {
        let path = folder.appending(lease.sha256)
        do throws(Errno) {
            let descriptor = try Descriptor.uninterrupted {
                Glibc.open(path.string, O_RDONLY | O_CLOEXEC)
            }
            return OpenFile(
                adopting: descriptor, name: name, sha256: lease.sha256, keeps: lease)
        } catch {
            if error == .noSuchFileOrDirectory {
                state.withLock { $0.ledger.remove(lease.sha256) }
            }
            throw FileSystem.failure("opening", path, error)
        }
    }

    /// Reserves bytes for a download. Waits while too many bytes are in use.
    ///
    /// - Parameter name: the name of the file in messages.
    /// - Throws: `exceedsLimit` for more than the whole cache; `noSpace` if there is no room within ``waitMax``.
    func reserve(_ bytes: Int, for name: String) async throws(Failure) {
        guard bytes <= bytesMax else {
            throw Failure(
                .exceedsLimit,
                "\(name) has \(bytes) bytes, and the scratch folder may have \(bytesMax). Give the worker more scratch "
                    + "space.")
        }
        if state.withLock({ $0.queue.isEmpty && grant(bytes, &$0) }) { return }
        guard await wait(for: bytes) else {
            throw Failure(
                .noSpace,
                "the scratch folder \(folder) had no room for the \(bytes) bytes of \(name) within \(waitMax): all its "
                    + "\(bytesMax) bytes are in use. Give the worker more scratch space, or fewer slots."
            )
        }
    }

    /// Reserves bytes without waiting. Returns false if there is no room.
    func reserveNow(_ bytes: Int) -> Bool {
        state.withLock { $0.queue.isEmpty && grant(bytes, &$0) }
    }

    func release(_ bytes: Int) {
        state.withLock { state in
            state.ledger.release(bytes)
            serve(&state)
        }
    }

    /// Removes all files that are not open, for a disk that is full before the cache is.
    ///
    /// - Returns: whether there were any.
    func evictIdle() -> Bool {
        state.withLock { state in
            let going = state.ledger.evictIdle()
            for name in going { unlink(folder.appending(name).string) }
            serve(&state)
            return !going.isEmpty
        }
    }

    /// Checks whether the disk has room for more work. If necessary, removes the files that are not open.
    ///
    /// - Throws: `noSpace`.
    func checkDisk(freeBytesMin: Int = ScratchCache.freeBytesMin) throws(Failure) {
        guard try DiskSpace(at: folder).free < freeBytesMin else { return }
        _ = evictIdle()
        let free = try DiskSpace(at: folder).free
        guard free < freeBytesMin else { return }
        throw Failure(
            .noSpace,
            "the disk of the scratch folder \(folder) has \(free) bytes free; work resumes from "
                + "\(freeBytesMin). Free some space, or give the worker a scratch folder on a larger disk."
        )
    }

    /// Adds a downloaded file to the cache.
    ///
    /// - Parameters:
    ///   - unfinished: the file. It is moved, or removed if the cache already has its content.
    ///   - reserved: the bytes that were reserved for it. They are released, also if the call fails.
    func settle(
        _ unfinished: FilePath, sha256: String, bytes: Int, reserved: Int
    ) throws(Failure) -> Lease {
        let target = folder.appending(sha256)
        let error = state.withLock { state -> Errno? in
            defer { serve(&state) }
            guard state.ledger.settle(sha256, bytes: bytes, reserved: reserved) else { return nil }
            // Under the lock, so that no file of the same name is evicted in between.
            guard rename(unfinished.string, target.string) != 0 else { return nil }
            let error = Errno.latest
            state.ledger.remove(sha256)
            return error
        }
        if let error { throw FileSystem.failure("moving a download to", target, error) }
        let lease = Lease(sha256, self)
        try files.remove(unfinished)
        return lease
    }

    /// Creates the folder again if it was removed: daemons delete old and empty folders in `/var/tmp`.
    func makeFolder() throws(Failure) { try files.makeFolder(folder) }

    /// Returns a new name for a download.
    func newFile() -> FilePath { folder.appending("\(UUID().uuidString).part") }

    /// The bytes of all files and reservations.
    var bytes: Int { state.withLock { $0.ledger.bytes } }

    private func unpin(_ sha256: String) {
        state.withLock { state in
            state.ledger.unpin(sha256)
            serve(&state)
        }
    }

    private func grant(_ bytes: Int, _ state: inout State) -> Bool {
        makeDiskSpace(for: bytes, &state)
        guard let going = state.ledger.reserve(bytes) else { return false }
        // A file that could not be removed is overwritten by the next of its name, or removed by the next process.
        for name in going { unlink(folder.appending(name).string) }
        return true
    }

    /// Removes idle files if the disk would be full before the cache is.
    private func makeDiskSpace(for bytes: Int, _ state: inout State) {
        // If the free space is unknown, the write is attempted and reports its own error.
        guard let space = try? DiskSpace(at: folder), space.free - bytes < Self.freeBytesMin else {
            return
        }
        for name in state.ledger.evictIdle() { unlink(folder.appending(name).string) }
    }

    /// Grants waiting downloads their bytes, in their order, as far as there is room.
    private func serve(_ state: inout State) {
        while let first = state.queue.first, grant(first.bytes, &state) {
            state.queue.removeFirst()
            first.clock.cancel()
            first.answer.resume(returning: true)
        }
    }

    private func wait(for bytes: Int) async -> Bool {
        await withCheckedContinuation { answer in
            state.withLock { state in
                state.ids += 1
                let id = state.ids
                // The timer cannot fire before the waiter is in the queue, because it needs the lock.
                let clock = Task {
                    do { try await Task.sleep(for: waitMax) } catch { return }
                    giveUp(id)
                }
                state.queue.append(Waiter(id: id, bytes: bytes, answer: answer, clock: clock))
                serve(&state)
            }
        }
    }

    private func giveUp(_ id: Int) {
        state.withLock { state in
            guard let index = state.queue.firstIndex(where: { $0.id == id }) else { return }
            state.queue.remove(at: index).answer.resume(returning: false)
            serve(&state)
        }
    }
}

/// The bytes of a scratch folder: downloads in progress, open files, and files that may be removed.
///
/// It decides and does no I/O. Files are named by their SHA-256 in hex.
struct ScratchLedger: Sendable {
    /// The largest total size, in bytes.
    let bytesMax: Int
    private var files: [String: File] = [:]
    private var uses = 0
    /// The bytes of files and of downloads.
    private(set) var bytes = 0

    private struct File {
        let bytes: Int
        /// The number of leases of the file.
        var pins: Int
        /// The sequence number of its last use.
        var use: Int
    }

    init(bytesMax: Int) { self.bytesMax = bytesMax }

    /// Reserves bytes for a download.
    ///
    /// - Returns: the files to remove for it, the least recently used first; nil if there is not enough room,
    ///   because the rest is in use.
    mutating func reserve(_ count: Int) -> [String]? {
        let idle = files.filter { $0.value.pins == 0 }.sorted { $0.value.use < $1.value.use }
        var free = bytesMax - bytes
        var going: [String] = []
        for (name, file) in idle where free < count {
            going.append(name)
            free += file.bytes
        }
        guard free >= count else { return nil }
        for name in going { remove(name) }
        bytes += count
        return going
    }

    /// Removes all files that are not open.
    mutating func evictIdle() -> [String] {
        let going = files.filter { $0.value.pins == 0 }.map(\.key)
        for name in going { remove(name) }
        return going
    }

    mutating func release(_ count: Int) { bytes -= count }

    /// Turns a download into a file with one lease.
    ///
    /// - Parameter reserved: the bytes that were reserved for it.
    /// - Returns: whether the file is new. If not, the file existed already and the download is not needed.
    mutating func settle(_ name: String, bytes count: Int, reserved: Int) -> Bool {
        bytes -= reserved
        if pin(name) { return false }
        bytes += count
        uses += 1
        files[name] = File(bytes: count, pins: 1, use: uses)
        return true
    }

    /// Adds a lease to a file. Returns false if there is no such file.
    mutating func pin(_ name: String) -> Bool {
        guard files[name] != nil else { return false }
        uses += 1
        files[name]?.pins += 1
        files[name]?.use = uses
        return true
    }

    /// Releases a lease.
    mutating func unpin(_ name: String) { files[name]?.pins -= 1 }

    /// Removes the entry of a deleted file.
    mutating func remove(_ name: String) {
        guard let file = files.removeValue(forKey: name) else { return }
        bytes -= file.bytes
    }
}
