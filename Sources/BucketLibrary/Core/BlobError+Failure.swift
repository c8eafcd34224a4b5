import Adjustments
import BlobStore

extension BlobError {
    /// The failure that it means for a job; the sentence stays.
    ///
    /// A store that does not answer comes back: its jobs wait and burn no attempt (`storeUnavailable`). Most others go as
    /// `ioFailure`, whose jobs are retried: rights and settings are mended by people.
    ///
    /// - Parameter missing: the code for an object that is not there.
    func failure(missing: FailureCode = .ioFailure) -> Failure {
        if let failure = underlying as? Failure { return failure }
        let code: FailureCode =
            switch self.code {
            case .notFound: missing
            case .full: .noSpace
            case .throttled, .unavailable, .unknownFate: .storeUnavailable
            case .invalid: .invalidValue
            case .invalidURL, .invalidConfiguration, .precondition, .changed, .denied,
                .noCredentials, .misconfigured, .conditionsIgnored, .corrupt, .local, .cancelled:
                .ioFailure
            }
        return Failure(code, message)
    }
}

/// The result of a call of a store, or the failure that its error means.
///
/// - Parameter missing: the code for an object that is not there.
func saying<Result>(
    missing: FailureCode = .ioFailure, _ call: () async throws(BlobError) -> Result
) async throws(Failure) -> Result {
    do throws(BlobError) { return try await call() } catch { throw error.failure(missing: missing) }
}
