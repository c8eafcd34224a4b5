import Edits
import Files
import Synchronization
import SystemPackage

/// The folder of the resources that edits name by digest: perhaps a mount of its own.
final class ResourceFolder: Sendable {
    private let path: FilePath
    /// Whether it had a file since the worker has started, or a worker of the queue has seen one in its own before.
    private let wasFilled = Mutex(false)

    init(_ path: FilePath) { self.path = path }

    /// Records that a worker of the queue has seen a file in its folder: this one may have been started without its disk.
    ///
    /// - Returns: whether this one has, at a check, or another one.
    func note(_ areKnown: Bool) -> Bool {
        wasFilled.withLock { filled in
            filled = filled || areKnown
            return filled
        }
    }

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
                "the folder of resources \(self.path) has no file, and the queue's workers have had some. Is its disk "
                    + "mounted? If they are not needed any more, run the worker without --resources."
            )
        }
    }
}
