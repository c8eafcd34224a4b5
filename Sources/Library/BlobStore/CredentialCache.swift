/// Caches keys until shortly before they expire. Concurrent callers share one renewal.
actor CredentialCache {
    /// How long before their expiry keys are renewed.
    static let renewalSeconds = 5 * 60

    /// The wait after a failed renewal, while the present keys are still valid.
    static let renewalPauseSeconds = 30

    private let source: any CredentialSource
    private var cached: Credentials?
    private var notBefore = BlobTime(seconds: .min)
    private var fetching: Task<Result<Credentials, BlobError>, Never>?

    init(_ source: any CredentialSource) {
        self.source = source
    }

    /// Returns keys that are valid at `now`.
    ///
    /// Keys that expire soon are returned while new ones are fetched; expired keys are not.
    func current(at now: BlobTime) async throws(BlobError) -> Credentials {
        guard let cached else { return try await fetched(at: now) }
        guard let expires = cached.expires else { return cached }
        if now.seconds < expires.seconds - Self.renewalSeconds { return cached }
        guard now < expires else { return try await fetched(at: now) }
        if now >= notBefore { fetch(at: now) }
        return cached
    }

    /// Removes keys that a store has refused. The next caller waits for new ones.
    func refused(_ credentials: Credentials) {
        // Another request may have renewed them in the meantime.
        if cached == credentials { cached = nil }
    }

    private func fetched(at now: BlobTime) async throws(BlobError) -> Credentials {
        try await fetch(at: now).value.get()
    }

    @discardableResult
    private func fetch(at now: BlobTime) -> Task<Result<Credentials, BlobError>, Never> {
        if let fetching { return fetching }
        let task = Task { () -> Result<Credentials, BlobError> in
            let result = await Self.ask(source)
            keep(result, at: now)
            return result
        }
        fetching = task
        return task
    }

    private func keep(_ result: Result<Credentials, BlobError>, at now: BlobTime) {
        fetching = nil
        switch result {
        case .success(let credentials): cached = credentials
        case .failure:
            // Callers that need new keys get the error. Callers with valid keys continue to use
            // them.
            notBefore = BlobTime(seconds: now.seconds + Self.renewalPauseSeconds)
        }
    }

    private static func ask(
        _ source: any CredentialSource
    ) async -> Result<Credentials, BlobError> {
        do throws(BlobError) {
            if let credentials = try await source.fetch() {
                try credentials.check(from: source.name)
                return .success(credentials)
            }
            return .failure(
                BlobError(
                    .noCredentials,
                    "No credentials for the store: \(source.name) has none. Set "
                        + "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, name a profile, or give "
                        + "the machine a role."))
        } catch {
            return .failure(error)
        }
    }
}
