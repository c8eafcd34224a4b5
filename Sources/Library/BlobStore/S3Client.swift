import Edits
public import Logging
import Synchronization

/// A client of one bucket of an S3-compatible store.
///
/// It may be used from any task concurrently. Requests share its connections, its permits
/// (``S3Configuration/requestsAtOnceMax``) and its budget for repeats. Close it after use.
public final class S3Client: BlobStore {
    let configuration: S3Configuration
    let runtime: ClientRuntime
    let transport: HTTPTransport
    let credentials: CredentialCache
    let gate: ConcurrencyGate
    let logger: Logger
    private let shared: Mutex<Shared>

    /// State that requests share.
    private struct Shared {
        var location: S3Location
        /// The server's clock minus the local clock, in seconds.
        var clockOffset = 0
        var budget = RetryBudget()
        var hedges = HedgePolicy()
        var signingKey: (credentials: Credentials, scope: String, key: [UInt8])?
    }

    /// Creates a client. It sends no request.
    ///
    /// Throws ``BlobError/Code/invalidConfiguration`` for a CA file that cannot be read.
    public convenience init(
        _ configuration: S3Configuration, credentials: any CredentialSource, logger: Logger
    ) throws(BlobError) {
        try self.init(
            configuration, credentials: credentials, logger: logger, runtime: .real)
    }

    init(
        _ configuration: S3Configuration, credentials: any CredentialSource, logger: Logger,
        runtime: ClientRuntime
    ) throws(BlobError) {
        self.configuration = configuration
        self.runtime = runtime
        self.logger = logger
        self.credentials = CredentialCache(credentials)
        transport = HTTPTransport(try configuration.transport())
        gate = ConcurrencyGate(max: configuration.requestsAtOnceMax)
        shared = Mutex(Shared(location: S3Location(configuration.url)))
    }

    /// Closes all connections. Running and later calls fail.
    public func close() async {
        await transport.close()
    }

    /// The present target of requests. The store may have revealed its region.
    var location: S3Location { shared.withLock { $0.location } }

    /// The present time by the server's clock, as far as it is known.
    public var now: BlobTime {
        BlobTime(seconds: runtime.now().seconds + shared.withLock { $0.clockOffset })
    }

    /// How far the server's clock is ahead of the local clock, in seconds; 0 unless the store
    /// refused a signature for its time.
    public var clockOffset: Int { shared.withLock { $0.clockOffset } }

    /// The tokens left for repeats. None are left if the store fails persistently.
    public var retryTokens: Int { shared.withLock { $0.budget.tokens } }

    func succeeded() {
        shared.withLock { $0.budget.succeeded() }
        gate.succeeded()
    }

    func next(
        _ attempts: inout Attempts, after failure: AttemptFailure, signed: BlobTime,
        for region: String
    ) -> Attempts.Step {
        let random = runtime.random()
        return shared.withLock {
            attempts.next(
                after: failure, signed: signed, for: region, budget: &$0.budget, random: random)
        }
    }

    /// The wait for a small GET before a second request; nil means that no second one is sent.
    var hedgeDelay: Duration? { shared.withLock { $0.hedges.delay } }

    func payForHedge() -> Bool { shared.withLock { $0.hedges.pay() } }

    func hedgeSucceeded(after time: Duration) {
        shared.withLock { $0.hedges.succeeded(after: time) }
    }

    func move(to region: String) {
        shared.withLock { $0.location.region = region }
        logger.debug(
            "The bucket is in another region: signing for it.",
            metadata: ["s3.bucket": "\(configuration.url.bucket)", "s3.region": "\(region)"])
    }

    func correctClock(to server: BlobTime) {
        let offset = server.seconds - runtime.now().seconds
        let isNews = shared.withLock { shared in
            defer { shared.clockOffset = offset }
            return shared.clockOffset == 0
        }
        guard isNews else { return }
        logger.warning(
            "This machine's clock differs from the store's: signing by the store's. Set the clock.",
            metadata: ["s3.clock.offset_seconds": "\(offset)"])
    }

    /// Returns the day's signing key, which is computed once a day.
    func signingKey(for signer: SigV4, at time: BlobTime) -> [UInt8] {
        let day = time.stamp.prefix(8)
        let scope = "\(day)/\(signer.region)"
        return shared.withLock { shared in
            if let known = shared.signingKey, known.scope == scope,
                known.credentials == signer.credentials
            {
                return known.key
            }
            let key = signer.signingKey(day: day)
            shared.signingKey = (signer.credentials, scope, key)
            return key
        }
    }
}
