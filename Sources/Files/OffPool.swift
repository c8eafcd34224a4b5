package import Adjustments
import Dispatch

/// Runs a call that blocks on files on a thread where that harms nobody.
///
/// Swift's cooperative pool has one thread per core; an fsync on it would hold up every task.
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
