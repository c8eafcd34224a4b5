import Crypto
public import Logging
import Synchronization

/// A client of one bucket of an S3-compatible store.
///
/// It may be used from everywhere at once; requests share its connections, its places
/// (``S3Configuration/requestsAtOnceMax``) and its budget for repeats. Close it when it is done with.
public final class S3Client: BlobStore {
    let configuration: S3Configuration
    let surroundings: Surroundings
    let transport: HTTPTransport
    let credentials: CredentialCache
    let gate: ConcurrencyGate
    let logger: Logger
    private let shared: Mutex<Shared>

    /// Facts that requests learn from each other.
    private struct Shared {
        var place: S3Place
        /// The server's clock less ours, in seconds.
        var clockOffset = 0
        var budget = RetryBudget()
        var hedges = HedgePolicy()
        var signingKey: (credentials: Credentials, scope: String, key: SymmetricKey)?
    }

    /// A client that has asked nothing yet.
    ///
    /// Throws ``BlobError/Code/invalidConfiguration`` for a CA file that cannot be read.
    public convenience init(
        _ configuration: S3Configuration, credentials: any CredentialSource, logger: Logger
    ) throws(BlobError) {
        try self.init(
            configuration, credentials: credentials, logger: logger, surroundings: .real)
    }

    init(
        _ configuration: S3Configuration, credentials: any CredentialSource, logger: Logger,
        surroundings: Surroundings
    ) throws(BlobError) {
        self.configuration = configuration
        self.surroundings = surroundings
        self.logger = logger
        self.credentials = CredentialCache(credentials)
        transport = HTTPTransport(try configuration.transport())
        gate = ConcurrencyGate(max: configuration.requestsAtOnceMax)
        shared = Mutex(Shared(place: S3Place(configuration.url)))
    }

    /// Ends all connections. Calls that still run fail, as do those to come.
    public func close() async {
        await transport.close()
    }

    /// Where requests go at present; the region may have been told by the store.
    var place: S3Place { shared.withLock { $0.place } }

    /// The moment by the server's clock, as far as it told us.
    public var now: BlobTime {
        BlobTime(seconds: surroundings.now().seconds + shared.withLock { $0.clockOffset })
    }

    /// How far the server's clock is ahead of ours, in seconds; 0 until the store complained.
    public var clockOffset: Int { shared.withLock { $0.clockOffset } }

    /// The tokens left for repeats; none means that the store is in trouble.
    public var retryTokens: Int { shared.withLock { $0.budget.tokens } }

    func succeeded() {
        shared.withLock { $0.budget.succeeded() }
        gate.succeeded()
    }

    func next(
        _ attempts: inout Attempts, after failure: AttemptFailure, signed: BlobTime,
        for region: String
    ) -> Attempts.Step {
        let random = surroundings.random()
        return shared.withLock {
            attempts.next(
                after: failure, signed: signed, for: region, budget: &$0.budget, random: random)
        }
    }

    /// How long a small GET is waited for before it is asked again; nil means as long as it takes.
    var hedgeDelay: Duration? { shared.withLock { $0.hedges.delay } }

    func payForHedge() -> Bool { shared.withLock { $0.hedges.pay() } }

    func hedgeSucceeded(after time: Duration) {
        shared.withLock { $0.hedges.succeeded(after: time) }
    }

    func move(to region: String) {
        shared.withLock { $0.place.region = region }
        logger.debug(
            "The bucket is in another region: signing for it.",
            metadata: ["s3.bucket": "\(configuration.url.bucket)", "s3.region": "\(region)"])
    }

    func correctClock(to server: BlobTime) {
        let offset = server.seconds - surroundings.now().seconds
        let isNews = shared.withLock { shared in
            defer { shared.clockOffset = offset }
            return shared.clockOffset == 0
        }
        guard isNews else { return }
        logger.warning(
            "This machine's clock differs from the store's: signing by the store's. Set the clock.",
            metadata: ["s3.clock.offset_seconds": "\(offset)"])
    }

    /// The key of the day, computed once a day.
    func signingKey(for signer: SigV4, at time: BlobTime) -> SymmetricKey {
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
