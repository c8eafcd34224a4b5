import Adjustments
import Files
import Synchronization
import SystemPackage

/// The folder of the resources that edits name by digest: perhaps a mount of its own.
final class ResourceFolder: Sendable {
    private let path: FilePath
    /// Whether it had a file since the worker has started.
    private let wasFilled = Mutex(false)

    init(_ path: FilePath) { self.path = path }

    /// Checks that the folder is at its place: one that had files and has none is its mount point, or was removed, and no
    /// resource is known to be missing.
    ///
    /// - Throws: `storeUnavailable`, `ioFailure`.
    func check() async throws(Failure) {
        try await offPool { () throws(Failure) in
            let isFilled = try FileSystem().hasEntry(self.path)
            let wasFilled = self.wasFilled.withLock { filled in
                filled = filled || isFilled
                return filled
            }
            guard wasFilled, !isFilled else { return }
            throw Failure(
                .storeUnavailable,
                "the folder of resources \(self.path) has no file any more. Is its disk mounted?")
        }
    }
}
