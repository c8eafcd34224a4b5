import Adjustments
import CSpool
import Files
import Glibc
import Synchronization
import SystemPackage

/// The file that a request came with for pixels that do not fit into memory, dealt out in parts.
final class SpoolSpace: Sendable {
    let file: OpenFile
    private let state = Mutex((end: 0, parts: 0))

    init(_ file: OpenFile) { self.file = file }

    /// Takes a part.
    ///
    /// - Returns: where it starts.
    /// - Throws: `noSpace` when the disk or a quota has not as much, `ioFailure`.
    func take(_ bytes: Int) throws(Failure) -> Int {
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
            giveBack(start, bytes)
            throw Self.failure("make a spool file of \(bytes) bytes", error)
        }
        return start
    }

    /// Gives a part back; once none is taken the file is empty again.
    func giveBack(_ start: Int, _ bytes: Int) {
        // What the file system cannot free now goes with the file.
        _ = minilab_free(file.descriptor, Int64(start), Int64(bytes))
        state.withLock { state in
            state.parts -= 1
            if state.parts == 0 { state.end = 0 }
        }
    }

    /// Takes the space, or on file systems that cannot, the length alone.
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

    /// The result of a call, or the failure that its error means.
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
