import Edits
import Files
import FoundationEssentials
import Glibc
import Synchronization
import SystemPackage

/// The file of a render's key, open and locked. Its holder renders; other jobs wait or render without it.
///
/// The kernel releases the lock when the file is closed, the object is deinitialised, or the process ends.
final class RenderFile: Sendable {
    /// The key of the render.
    let key: RenderKey
    private let path: FilePath
    private let state: Mutex<State>

    private struct State {
        /// The open file; nil after its release.
        var file: OpenFile?
        var record: RenderRecord
    }

    /// The outcome of a claim.
    enum Claim: Sendable {
        /// This job has claimed the entry.
        case claimed(RenderFile)
        /// Another job is rendering the same photo with the same recipe.
        case busy
        /// The entry cannot be claimed: an earlier hold of the same job has it and its worker is stuck; or a later
        /// release wrote the file.
        case lost
    }

    private init(_ key: RenderKey, _ path: FilePath, _ file: OpenFile, _ record: RenderRecord) {
        (self.key, self.path) = (key, path)
        state = Mutex(State(file: file, record: record))
    }

    /// Releases the file. Explicit, because an object may live on after its last use, and a worker may be suspended
    /// in that time.
    func release() { state.withLock { $0.file = nil } }

    /// The content of the file.
    var record: RenderRecord { state.withLock { $0.record } }

    /// Changes the content of the file.
    ///
    /// The change need not survive a crash: a missing render is made again.
    func update(_ change: (inout RenderRecord) -> Void) throws(Failure) {
        try state.withLock { state throws(Failure) in
            var record = state.record
            change(&record)
            let bytes = Array(try record.encoded())
            let file = state.file?.descriptor ?? -1
            try FileSystem.describing("writing to", path, Descriptor.write(file, bytes, at: 0))
            try FileSystem.describing("writing to", path, Descriptor.cut(file, to: bytes.count))
            state.record = record
        }
    }

    /// Opens the file of a key if no other job holds it, without waiting.
    ///
    /// - Parameter holder: the job, as `queue/job`.
    /// - Returns: nil if the file is missing and is not to be created.
    static func open(
        _ path: FilePath, _ key: RenderKey, for holder: String? = nil, making: Bool,
        _ files: FileSystem
    ) throws(Failure) -> Claim? {
        for _ in 0..<attemptsMax {
            guard let file = try open(path, making: making, files) else { return nil }
            guard try FileSystem.describing("locking", path, file.lock()) else {
                do throws(Failure) {
                    let other = try RenderRecord(try read(file, path)).holder
                    return holder != nil && other == holder ? .lost : .busy
                } catch  where error.code == .laterFormat {
                    return .lost
                }
            }
            // Removed between open and lock: another file has that name, or none.
            guard try FileSystem.describing("reading the status of", path, file.isAt(path.string))
            else {
                continue
            }
            do throws(Failure) {
                return .claimed(RenderFile(key, path, file, try RenderRecord(try read(file, path))))
            } catch {
                // The photo is rendered without the entry, which is not changed.
                if error.code == .laterFormat { return .lost }
                throw error
            }
        }
        return .busy
    }

    private static let attemptsMax = 3

    private static func open(
        _ path: FilePath, making: Bool, _ files: FileSystem
    ) throws(Failure) -> OpenFile? {
        let flags = O_RDWR | (making ? O_CREAT : 0)
        do throws(Errno) {
            return try OpenFile(opening: path.string, flags)
        } catch {
            guard error == .noSuchFileOrDirectory else {
                throw FileSystem.failure("opening", path, error)
            }
            guard making else { return nil }
        }
        try files.makeFolder(path.removingLastComponent())
        return try FileSystem.describing("opening", path, OpenFile(opening: path.string, flags))
    }

    /// - Returns: the bytes of the file, truncated at the maximum length of a record.
    private static func read(_ file: OpenFile, _ path: FilePath) throws(Failure) -> [UInt8] {
        try FileSystem.describing(
            "reading", path, Descriptor.bytes(file.descriptor, count: RenderRecord.bytesMax + 1))
    }
}
