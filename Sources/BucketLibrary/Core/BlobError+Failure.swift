import Adjustments
import BlobStore

extension BlobError {
    /// The failure that it means for a job; the sentence stays.
    ///
    /// A store that does not answer, or refuses this machine, comes back: jobs wait for it and burn no attempt
    /// (`storeUnavailable`). Rights and settings are mended by people, whose jobs must not be dead by then.
    ///
    /// - Parameter missing: the code for an object that is not there.
    func failure(missing: FailureCode = .ioFailure) -> Failure {
        if let failure = underlying as? Failure { return failure }
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

/// The result of a call of a store, or the failure that its error means.
///
/// - Parameter missing: the code for an object that is not there.
func saying<Result>(
    missing: FailureCode = .ioFailure, _ call: () async throws(BlobError) -> Result
) async throws(Failure) -> Result {
    do throws(BlobError) { return try await call() } catch { throw error.failure(missing: missing) }
}
