import Adjustments
import Files
import FoundationEssentials
import Glibc
import Synchronization
import SystemPackage

/// The file of a render's key, open and locked: whoever has it renders, everybody else waits or does without.
///
/// The kernel frees it when it is let go, or when the object or the process goes.
final class RenderFile: Sendable {
    /// Which render.
    let key: RenderKey
    private let path: FilePath
    private let state: Mutex<State>

    private struct State {
        /// Nil when it was let go.
        var file: OpenFile?
        var record: RenderRecord
    }

    /// What became of the wish for an entry.
    enum Claim: Sendable {
        /// It is ours.
        case held(RenderFile)
        /// Another job renders this very photo with this very recipe now.
        case busy
        /// It cannot be ours: an earlier hold of our own job has it, whose worker is stuck, or it would have gone on;
        /// or a later release wrote it.
        case lost
    }

    private init(_ key: RenderKey, _ path: FilePath, _ file: OpenFile, _ record: RenderRecord) {
        (self.key, self.path) = (key, path)
        state = Mutex(State(file: file, record: record))
    }

    /// Lets others have it. An object lives on for a moment after its last use, and a worker may be stopped in that.
    func letGo() { state.withLock { $0.file = nil } }

    /// What it says.
    var record: RenderRecord { state.withLock { $0.record } }

    /// Changes what it says.
    ///
    /// It need not last: what is not there is rendered.
    func update(_ change: (inout RenderRecord) -> Void) throws(Failure) {
        try state.withLock { state throws(Failure) in
            var record = state.record
            change(&record)
            let bytes = Array(try record.encoded())
            let file = state.file?.descriptor ?? -1
            try FileSystem.saying("writing to", path, Descriptor.write(file, bytes, at: 0))
            try FileSystem.saying("writing to", path, Descriptor.cut(file, to: bytes.count))
            state.record = record
        }
    }

    /// Opens the file of a key, if nobody has it; does not wait.
    ///
    /// - Parameter holder: `queue/job`.
    /// - Returns: nil when the file is not there and is not to be made.
    static func open(
        _ path: FilePath, _ key: RenderKey, for holder: String? = nil, making: Bool,
        _ files: FileSystem
    ) throws(Failure) -> Claim? {
        for _ in 0..<attemptsMax {
            guard let file = try open(path, making: making, files) else { return nil }
            guard try FileSystem.saying("locking", path, file.lock()) else {
                do throws(Failure) {
                    let other = try RenderRecord(try read(file, path)).holder
                    return holder != nil && other == holder ? .lost : .busy
                } catch  where error.code == .laterFormat {
                    return .lost
                }
            }
            // Removed between open and lock: there is another file of that name, or none.
            guard try FileSystem.saying("looking at", path, file.isAt(path.string)) else {
                continue
            }
            do throws(Failure) {
                return .held(RenderFile(key, path, file, try RenderRecord(try read(file, path))))
            } catch {
                // The photo is rendered without it; nothing of it is changed.
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
        return try FileSystem.saying("opening", path, OpenFile(opening: path.string, flags))
    }

    /// - Returns: what is there, cut off where a record must have ended.
    private static func read(_ file: OpenFile, _ path: FilePath) throws(Failure) -> [UInt8] {
        try FileSystem.saying(
            "reading", path, Descriptor.bytes(file.descriptor, count: RenderRecord.bytesMax + 1))
    }
}
