import CMinilab
package import Edits

/// Runs a call that blocks on files on a thread outside Swift's cooperative pool, one of ``BlockingThreads``.
///
/// The cooperative pool has one thread per core, so an fsync on it would delay every task.
package func offPool<Result: Sendable>(
    _ body: @escaping @Sendable () throws(Failure) -> Result
) async throws(Failure) -> Result {
    let result = await withCheckedContinuation {
        (continuation: CheckedContinuation<Swift.Result<Result, Failure>, Never>) in
        BlockingThreads.shared.run {
            do throws(Failure) {
                continuation.resume(returning: .success(try body()))
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }
    }
    return try result.get()
}

/// Does work that is not stopped when the caller's task is cancelled: after what it does, the caller must know that it is done.
///
/// The work must be bounded in time by itself.
package func toItsEnd<Result: Sendable>(
    _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    try await Task { try await body() }.value
}

/// The process's heap, which all its libraries share: glibc's malloc.
package enum Heap {
    /// The size from which on an allocation is a mapping of its own, which is returned to the system when it is
    /// freed: glibc's own initial value.
    private static let mappedBytesMin: Int32 = 128 << 10

    /// Lets the process shrink after its work to its size before.
    ///
    /// By default glibc raises the threshold to the largest allocation that was ever freed, up to 32 MB, and from
    /// then on keeps such allocations in its arenas. Measured on a child after eleven edits of 24 MP: 94 MB by
    /// default, 52 MB with a fixed threshold, in the same time. On a worker with a library in a bucket, whose heap
    /// never had more than 9 MB: 191 MB by default after 1,080 photos of 5.7 MB.
    package static func settle() { minilab_map_from(mappedBytesMin) }

    /// Releases the pages of code and constants of libraries that only the start needed. Pages that are needed
    /// again are read from the page cache.
    ///
    /// Measured on a child after its start: 46 MB before, of which 39 MB are files of some 150 libraries.
    package static func leaveCodeOfStart() { minilab_leave_code() }
}
