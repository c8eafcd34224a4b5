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

/// The most attempts of a write with an unknown result.
private let writesMax = 3

/// Runs an idempotent write, and repeats it if its result is unknown.
///
/// - Parameter missing: the code for a missing object.
func repeatably(
    missing: FailureCode = .damagedVersion, _ write: () async throws(BlobError) -> Void
) async throws(Failure) {
    for number in 1... {
        do throws(BlobError) {
            return try await write()
        } catch {
            guard error.code == .unknownFate, number < writesMax else {
                throw error.failure(missing: missing)
            }
        }
    }
}

extension BlobAttributes {
    static let json = BlobAttributes(mediaType: "application/json")
}

extension BlobStore {
    /// Describes an object; nil if it is missing.
    func find(_ key: BlobKey) async throws(Failure) -> Blob? {
        do throws(BlobError) {
            return try await head(key)
        } catch {
            guard error.code == .notFound else { throw error.failure() }
            return nil
        }
    }

    /// Describes an object.
    ///
    /// - Parameter missing: the code of the failure if it is missing.
    func find(_ key: BlobKey, missing: FailureCode) async throws(Failure) -> Blob {
        try await storeCall(missing: missing) { () throws(BlobError) in try await head(key) }
    }

    /// Reads a small object; nil if it is missing.
    func document(_ key: BlobKey, atMost count: Int) async throws(Failure) -> BlobBytes? {
        do throws(BlobError) {
            return try await bytes(key, nil, ifMatch: nil, atMost: count)
        } catch {
            guard error.code == .notFound else { throw error.failure() }
            return nil
        }
    }

    /// Writes a small object in any case.
    func write(_ bytes: [UInt8], to key: BlobKey) async throws(Failure) {
        try await repeatably { () throws(BlobError) in
            try await put(key, bytes, if: .always, .json)
        }
    }

    /// Lists the objects whose keys have a prefix, a page at a time, until `body` returns false.
    func pages(
        _ prefix: String, after first: BlobKey? = nil,
        _ body: (BlobPage) async throws(Failure) -> Bool
    ) async throws(Failure) {
        var last = first
        repeat {
            let start = last
            let page = try await storeCall { () throws(BlobError) in
                try await list(prefix, after: start)
            }
            guard try await body(page) else { return }
            last = page.next
        } while last != nil
    }
}
