import Edits
import BlobStore

extension BlobError {
    /// Returns the failure of a job for this error, with the same message.
    ///
    /// A store that does not answer, or refuses this machine, is expected to recover: jobs wait for it without
    /// counting an attempt (`storeUnavailable`). Operators correct rights and settings, and the jobs must not be
    /// dead by then.
    ///
    /// - Parameter missing: the code for a missing object.
    func failure(missing: FailureCode = .ioFailure) -> Failure {
        if let failure = cause as? Failure { return failure }
        let code: FailureCode =
            switch self.code {
            case .notFound: missing
            case .full: .noSpace
            case .throttled, .unavailable, .unknownFate, .denied, .noCredentials, .misconfigured,
                .corrupt:
                .storeUnavailable
            case .invalid: .invalidValue
            case .invalidURL, .invalidConfiguration, .precondition, .changed, .conditionsIgnored,
                .local, .cancelled:
                .ioFailure
            }
        return Failure(code, message)
    }
}

/// Returns the result of a call to a store, or throws the corresponding failure.
///
/// - Parameter missing: the code for a missing object.
func storeCall<Result>(
    missing: FailureCode = .ioFailure, _ call: () async throws(BlobError) -> Result
) async throws(Failure) -> Result {
    do throws(BlobError) { return try await call() } catch { throw error.failure(missing: missing) }
}
