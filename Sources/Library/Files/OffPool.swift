package import Edits
import Dispatch

/// Runs a call that blocks on files on a thread outside Swift's cooperative pool.
///
/// The cooperative pool has one thread per core, so an fsync on it would delay every task.
package func offPool<Result: Sendable>(
    _ body: @escaping @Sendable () throws(Failure) -> Result
) async throws(Failure) -> Result {
    let result = await withCheckedContinuation {
        (continuation: CheckedContinuation<Swift.Result<Result, Failure>, Never>) in
        DispatchQueue.global().async {
            do throws(Failure) {
                continuation.resume(returning: .success(try body()))
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }
    }
    return try result.get()
}
