import Edits
import CMinilab
import Files
import Glibc
import Synchronization
import SystemPackage

/// The spool file of a request, for pixels that do not fit into memory. It is allocated in parts.
final class SpoolSpace: Sendable {
    let file: OpenFile
    private let state = Mutex((end: 0, parts: 0))

    init(_ file: OpenFile) { self.file = file }

    /// Allocates a part.
    ///
    /// - Returns: its start.
    /// - Throws: `noSpace` if the disk or a quota has too little, `ioFailure`.
    func reserve(_ bytes: Int) throws(Failure) -> Int {
        let free = try DiskSpace(of: file).free
        guard free >= bytes else {
            throw Failure(
                .noSpace,
                "The render needs a spool file of \(bytes) bytes, and the disk has \(free) free. Free "
                    + "some space, or put the staging folder on a larger disk.")
        }
        let start = state.withLock { state in
            defer { state = (state.end + bytes, state.parts + 1) }
            return state.end
        }
        do throws(Errno) {
            try allocate(start, bytes)
        } catch {
            release(start, bytes)
            throw Self.failure("make a spool file of \(bytes) bytes", error)
        }
        return start
    }

    /// Releases a part. When no part is left, the file is empty again.
    func release(_ start: Int, _ bytes: Int) {
        // Space that the file system cannot free now is freed with the file.
        _ = minilab_free(file.descriptor, Int64(start), Int64(bytes))
        state.withLock { state in
            state.parts -= 1
            if state.parts == 0 { state.end = 0 }
        }
    }

    /// Allocates the space. File systems without support for that only set the length.
    private func allocate(_ start: Int, _ bytes: Int) throws(Errno) {
        do throws(Errno) {
            try Descriptor.uninterrupted {
                minilab_allocate(file.descriptor, Int64(start), Int64(bytes))
            }
        } catch {
            guard error.rawValue == EOPNOTSUPP else { throw error }
            try Descriptor.cut(file.descriptor, to: start + bytes)
        }
    }

    /// Returns the result of a call, or throws the failure for its error.
    static func saying<Result>(
        _ action: @autoclosure () -> String, _ call: @autoclosure () throws(Errno) -> Result
    ) throws(Failure) -> Result {
        do throws(Errno) { return try call() } catch { throw failure(action(), error) }
    }

    static func failure(_ action: String, _ error: Errno) -> Failure {
        let isFull = [ENOSPC, EDQUOT, EFBIG].contains(error.rawValue)
        return Failure(
            isFull ? .noSpace : .ioFailure,
            "The render could not \(action): \(error)."
                + (isFull ? " Free some space, or raise the quota." : ""))
    }
}
