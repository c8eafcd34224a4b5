import Adjustments
import Files
import FoundationEssentials
import Glibc
import Synchronization
import SystemPackage

/// Files of a bucket on this machine: `<scratch>/cache/<sha256>`, each downloaded once, at most so many bytes together.
///
/// A file that is open is not removed: its ``Lease`` pins it. A download has to be admitted before it begins; where all
/// bytes are in use it waits. Nothing is fsynced, and nothing of an earlier process is believed: the folder is emptied.
final class ScratchCache: Sendable {
    /// Where the files are.
    let folder: FilePath
    /// The most bytes.
    let bytesMax: Int
    private let waitMax: Duration
    private let files = FileSystem()
    private let state: Mutex<State>
    /// Locked as long as this object lives: another process on this machine has a folder of its own.
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
        /// Ends the wait; cancelled when there is room before.
        let clock: Task<Void, Never>
    }

    /// The longest wait for room: several renders have to end before it, each of which may take minutes.
    static let waitMax = Duration.seconds(1800)
    /// The fewest free bytes of a disk that is not called full: results come to it, too.
    static let freeBytesMin = 64 << 20
    /// Most processes of one machine that share a scratch folder.
    private static let foldersMax = 16

    /// Opens a cache and empties it.
    ///
    /// - Throws: `ioFailure`, `noSpace`.
    init(scratch: FilePath, bytesMax: Int, waitMax: Duration = ScratchCache.waitMax) throws(Failure)
    {
        (lock, folder) = try Self.take(scratch, files)
        self.waitMax = waitMax
        self.bytesMax = bytesMax
        state = Mutex(State(ledger: ScratchLedger(bytesMax: bytesMax)))
        for name in try files.list(folder) { try files.remove(folder.appending(name)) }
    }

    private static func take(
        _ scratch: FilePath, _ files: FileSystem
    ) throws(Failure) -> (OpenFile, FilePath) {
        for number in 0..<foldersMax {
            let folder = scratch.appending(number == 0 ? "cache" : "cache-\(number)")
            try files.makeFolder(folder)
            let path = FilePath(folder.string + ".lock")
            let file = try FileSystem.saying(
                "opening the lock", path, OpenFile(opening: path.string, O_RDWR | O_CREAT))
            if try FileSystem.saying("locking", path, file.lock()) { return (file, folder) }
        }
        throw Failure(
            .ioFailure,
            "\(foldersMax) processes use the scratch folder \(scratch) already. Give this one another."
        )
    }

    /// Keeps a file in the cache as long as it lives.
    final class Lease: Sendable {
        let sha256: String
        private let cache: ScratchCache

        /// Takes over a pin of the ledger.
        fileprivate init(_ sha256: String, _ cache: ScratchCache) {
            (self.sha256, self.cache) = (sha256, cache)
        }

        deinit { cache.unpin(sha256) }
    }

    /// A lease of a file that is here; nil when it is not.
    func lease(_ sha256: String) -> Lease? {
        state.withLock { $0.ledger.pin(sha256) } ? Lease(sha256, self) : nil
    }

    /// Opens a file that is leased, with a descriptor of its own.
    ///
    /// - Parameter name: how sentences call it.
    /// - Throws: `ioFailure`, also when somebody has removed the file: it is downloaded again by the next call.
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

    /// Takes bytes for a download; waits while too many are in use.
    ///
    /// - Parameter name: how sentences call the file.
    /// - Throws: `exceedsLimit` for more than the whole cache; `noSpace` when there is no room for ``waitMax``.
    func admit(_ bytes: Int, for name: String) async throws(Failure) {
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

    /// The same without waiting; false when there is no room.
    func admitNow(_ bytes: Int) -> Bool {
        state.withLock { $0.queue.isEmpty && grant(bytes, &$0) }
    }

    /// Gives bytes of a download back.
    func release(_ bytes: Int) {
        state.withLock { state in
            state.ledger.release(bytes)
            serve(&state)
        }
    }

    /// Removes all files that nobody has open: the disk is full before the cache is.
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

    /// Finds out whether the disk has room for more work; what nobody has open goes for it.
    ///
    /// - Throws: `noSpace`.
    func checkDisk(freeBytesMin: Int = ScratchCache.freeBytesMin) throws(Failure) {
        guard try DiskSpace(at: folder).free < freeBytesMin else { return }
        _ = evictIdle()
        let free = try DiskSpace(at: folder).free
        guard free < freeBytesMin else { return }
        throw Failure(
            .noSpace,
            "the disk of the scratch folder \(folder) has \(free) bytes free; work goes on from "
                + "\(freeBytesMin). Free some space, or give the worker a scratch folder on a larger disk."
        )
    }

    /// Makes a downloaded file one of the cache.
    ///
    /// - Parameters:
    ///   - part: the file; it is moved, or removed when the cache has it already.
    ///   - admitted: the bytes that were taken for it; they are given back if this fails, too.
    func settle(
        _ part: FilePath, sha256: String, bytes: Int, admitted: Int
    ) throws(Failure) -> Lease {
        let target = folder.appending(sha256)
        let error = state.withLock { state -> Errno? in
            defer { serve(&state) }
            guard state.ledger.settle(sha256, bytes: bytes, admitted: admitted) else { return nil }
            // Under the lock, so that no eviction of the same name comes between.
            guard rename(part.string, target.string) != 0 else { return nil }
            let error = Errno.latest
            state.ledger.remove(sha256)
            return error
        }
        if let error { throw FileSystem.failure("moving a download to", target, error) }
        let lease = Lease(sha256, self)
        try files.remove(part)
        return lease
    }

    /// Makes the folder again, if somebody has removed it: daemons clear `/var/tmp` of what is old and empty.
    func makeFolder() throws(Failure) { try files.makeFolder(folder) }

    /// A name for a download.
    func newPart() -> FilePath { folder.appending("\(UUID().uuidString).part") }

    /// The bytes in use and not.
    var bytes: Int { state.withLock { $0.ledger.bytes } }

    private func unpin(_ sha256: String) {
        state.withLock { state in
            state.ledger.unpin(sha256)
            serve(&state)
        }
    }

    private func grant(_ bytes: Int, _ state: inout State) -> Bool {
        makeDiskSpace(for: bytes, &state)
        guard let going = state.ledger.admit(bytes) else { return false }
        // A file that stays is overwritten by the next of its name, or emptied by the next process.
        for name in going { unlink(folder.appending(name).string) }
        return true
    }

    /// Lets idle files go where the disk would be full before the cache is.
    private func makeDiskSpace(for bytes: Int, _ state: inout State) {
        // A disk that does not tell its space is written to all the same: the write says what is wrong.
        guard let space = try? DiskSpace(at: folder), space.free - bytes < Self.freeBytesMin else {
            return
        }
        for name in state.ledger.evictIdle() { unlink(folder.appending(name).string) }
    }

    /// Admits those that wait, in their order, as far as there is room.
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
                // It cannot give up before the waiter is in the queue: it needs the lock for that.
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
