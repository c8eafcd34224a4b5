import Adjustments
import FoundationEssentials
import Glibc
import Synchronization
import SystemPackage

/// The file of a render's key, open and locked: whoever has it renders, everybody else waits or does without.
///
/// The kernel frees it when it is let go, or when the object or the process goes.
public final class RenderEntry: Sendable {
    /// Which render.
    public let key: RenderKey
    private let path: FilePath
    private let state: Mutex<State>

    private struct State {
        /// -1 when it was let go.
        var file: CInt
        var record: RenderRecord
    }

    /// What became of the wish for an entry.
    public enum Claim: Sendable {
        /// It is ours.
        case held(RenderEntry)
        /// Another job renders this very photo with this very recipe now.
        case busy
        /// It cannot be ours: an earlier hold of our own job has it, whose worker is stuck, or it would have gone on;
        /// or a later release wrote it.
        case lost
    }

    private init(_ key: RenderKey, _ path: FilePath, _ file: CInt, _ record: RenderRecord) {
        (self.key, self.path) = (key, path)
        state = Mutex(State(file: file, record: record))
    }

    deinit { letGo() }

    /// Lets others have it. An object lives on for a moment after its last use, and a worker may be stopped in that.
    func letGo() {
        let file = state.withLock { state in
            defer { state.file = -1 }
            return state.file
        }
        if file >= 0 { close(file) }
    }

    /// What it says.
    var record: RenderRecord { state.withLock { $0.record } }

    /// Changes what it says.
    ///
    /// It need not last: what is not there is rendered.
    func update(_ change: (inout RenderRecord) -> Void) throws(Failure) {
        try state.withLock { state throws(Failure) in
            var record = state.record
            change(&record)
            let bytes = try record.encoded()
            let count = bytes.withUnsafeBytes { pwrite(state.file, $0.baseAddress, $0.count, 0) }
            guard count == bytes.count, ftruncate(state.file, off_t(count)) == 0 else {
                throw Files.failure("writing to", path)
            }
            state.record = record
        }
    }

    /// Opens the file of a key, if nobody has it; does not wait.
    ///
    /// - Parameter holder: `queue/job`.
    /// - Returns: nil when the file is not there and is not to be made.
    static func open(
        _ path: FilePath, _ key: RenderKey, for holder: String? = nil, making: Bool,
        _ files: Files
    ) throws(Failure) -> Claim? {
        for _ in 0..<attemptsMax {
            guard let file = try open(path, making: making, files) else { return nil }
            guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
                let code = errno
                defer { close(file) }
                guard code == EWOULDBLOCK || code == EINTR else {
                    throw Files.failure("locking", path, code)
                }
                do throws(Failure) {
                    let other = try RenderRecord(try read(file, path)).holder
                    return holder != nil && other == holder ? .lost : .busy
                } catch  where error.code == .laterFormat {
                    return .lost
                }
            }
            var info = stat()
            guard fstat(file, &info) == 0 else {
                defer { close(file) }
                throw Files.failure("looking at", path)
            }
            // Removed between open and lock: there is another file of that name, or none.
            guard info.st_nlink > 0 else {
                close(file)
                continue
            }
            do throws(Failure) {
                return .held(RenderEntry(key, path, file, try RenderRecord(try read(file, path))))
            } catch {
                close(file)
                // The photo is rendered without it; nothing of it is changed.
                if error.code == .laterFormat { return .lost }
                throw error
            }
        }
        return .busy
    }

    private static let attemptsMax = 3

    private static func open(
        _ path: FilePath, making: Bool, _ files: Files
    ) throws(Failure) -> CInt? {
        let flags = O_RDWR | O_CLOEXEC | (making ? O_CREAT : 0)
        var file = Glibc.open(path.string, flags, 0o666)
        if file < 0, errno == ENOENT {
            guard making else { return nil }
            try files.makeFolder(path.removingLastComponent())
            file = Glibc.open(path.string, flags, 0o666)
        }
        guard file >= 0 else { throw Files.failure("opening", path) }
        return file
    }

    /// - Returns: what is there, cut off where a record must have ended.
    private static func read(_ file: CInt, _ path: FilePath) throws(Failure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 4096)
        var length = 0
        while length <= RenderRecord.bytesMax {
            if length == bytes.count { bytes += [UInt8](repeating: 0, count: bytes.count) }
            let count = bytes.withUnsafeMutableBytes {
                pread(file, $0.baseAddress.map { $0 + length }, $0.count - length, off_t(length))
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Files.failure("reading", path) }
            if count == 0 { break }
            length += count
        }
        return Array(bytes[..<length])
    }
}
