import AsyncHTTPClient
public import Edits
import FoundationEssentials
public import Logging
public import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization
public import SystemPackage

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
    /// Throws `invalidConfiguration` for a CA file that cannot be read.
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

extension S3Client {
    public func link(
        _ key: BlobKey, for time: Duration
    ) async throws(BlobError) -> BlobLink {
        try check(key)
        let asked = Int(time.components.seconds)
        guard asked >= 1, time <= BlobLink.timeMax else {
            throw BlobError(
                .invalid,
                "A link to \(location.name(key)) for \(time) cannot be signed: 1 s to 7 days can.")
        }
        let now = now
        let keys = try await credentials.current(at: now)
        let seconds = min(asked, keys.expires.map { max(1, $0.seconds - now.seconds) } ?? asked)
        let location = location
        let request = SignableRequest(
            method: "GET", path: location.path(key), headers: [("host", location.authority)],
            payload: SignableRequest.unsignedPayload)
        let query = SigV4(credentials: keys, region: location.region)
            .presignedQuery(for: request, at: now, seconds: seconds)
        return BlobLink(
            url: "\(location.scheme)://\(location.authority)\(request.path)?\(query)",
            expires: BlobTime(seconds: now.seconds + seconds))
    }

    /// Writes a range of an object into an open file, at the same offsets as in the object.
    ///
    /// It reads several ranges of ``S3Configuration/partBytes`` concurrently, all of the same
    /// content. If the object is replaced in the meantime, the call throws
    /// `changed`, and the file's content in the range is undefined.
    ///
    /// - Parameter blob: The object as ``head(_:)`` described it.
    public func download(
        _ key: BlobKey, _ blob: Blob, _ range: Range<Int>? = nil,
        into file: SystemPackage.FileDescriptor
    ) async throws(BlobError) {
        let range = (range ?? 0..<blob.size).clamped(to: 0..<blob.size)
        let step = max(1, configuration.partBytes)
        let parts = stride(from: range.lowerBound, to: range.upperBound, by: step).map {
            $0..<min($0 + step, range.upperBound)
        }
        _ = try await concurrentMap(parts, atOnce: configuration.partsAtOnce) {
            part throws(BlobError) in
            var offset = part.lowerBound
            try await self.get(key, part, ifMatch: blob.tag) { piece in
                try await Self.write(piece, at: offset, to: file)
                offset += piece.readableBytes
            }
        }
    }

    /// Writes on a thread outside the cooperative pool.
    private static func write(
        _ piece: ByteBuffer, at offset: Int, to file: SystemPackage.FileDescriptor
    ) async throws {
        try await NIOThreadPool.singleton.runIfActive {
            try piece.withUnsafeReadableBytes { bytes in
                var written = 0
                while written < bytes.count {
                    written += try file.write(
                        toAbsoluteOffset: Int64(offset + written),
                        UnsafeRawBufferPointer(rebasing: bytes[written...]))
                }
            }
        }
    }

    /// Returns the next objects whose keys begin with `prefix`, in the store's order.
    ///
    /// Each page begins after a key, not at a token, so that any process can continue a listing,
    /// and a listing can be split.
    public func list(
        _ prefix: String = "", after: BlobKey? = nil
    ) async throws(BlobError) -> BlobPage {
        let location = location
        var query = [
            (name: "list-type", value: "2"), ("encoding-type", "url"),
            ("max-keys", String(BlobPage.entriesMax)), ("prefix", location.fullKey(prefix)),
        ]
        if let after { query.append(("start-after", location.fullKey(after.text))) }
        return try await exchange {
            S3Request(method: .GET, key: nil, query: query, right: "s3:ListBucket")
        } _: { response throws(AttemptFailure) in
            try Self.page(
                await Self.document(response, named: "ListBucketResult"), location: location)
        }
    }

    static func page(
        _ document: XMLNode, location: S3Location
    ) throws(AttemptFailure) -> BlobPage {
        let isEncoded = document.text(of: "EncodingType") == "url"
        var entries: [BlobPage.Entry] = []
        var last: BlobKey?
        var (isByBytes, isByComponents) = (true, true)
        for node in document.children where node.name == "Contents" {
            guard let raw = node.text(of: "Key"), let full = isEncoded ? decoded(raw) : raw,
                let size = node.text(of: "Size").flatMap({ Int($0) }), size >= 0,
                let tag = node.text(of: "ETag")
            else { throw .senseless("a listed object without key, size or ETag") }
            // Skips an object with the name of the prefix itself, which storage consoles create
            // for an empty folder.
            guard let key = location.key(ofListed: full) else { continue }
            if let last {
                isByBytes = isByBytes && last < key
                isByComponents = isByComponents && last.precedesByComponents(key)
                guard isByBytes || isByComponents else {
                    throw .senseless("a list that is out of order")
                }
            }
            last = key
            entries.append(
                BlobPage.Entry(
                    key: key, size: size, tag: BlobTag(tag),
                    modified: node.text(of: "LastModified").flatMap { BlobTime(iso: $0) }))
        }
        let isTruncated = document.text(of: "IsTruncated") == "true"
        guard !isTruncated || last != nil else { throw .senseless("a page of nothing and more") }
        return BlobPage(entries: entries, next: isTruncated ? last : nil)
    }

    /// Decodes a key, which is encoded like a form: a space may be a `+`.
    private static func decoded(_ key: String) -> String? {
        String(key.map { $0 == "+" ? " " : $0 }).percentDecoded
    }

    public func head(_ key: BlobKey) async throws(BlobError) -> Blob {
        try check(key)
        return try await exchange {
            S3Request(
                method: .HEAD, key: key, headers: [("x-amz-checksum-mode", "ENABLED")],
                right: "s3:GetObject and s3:ListBucket", failedCondition: .changed)
        } _: { response throws(AttemptFailure) in
            try Blob(response.headers, size: response.headers.first(name: "content-length"))
        }
    }

    /// Reads an object, or a range of it, and passes its bytes to a sink in order.
    @discardableResult
    public func get(
        _ key: BlobKey, _ range: Range<Int>? = nil, ifMatch tag: BlobTag? = nil,
        into sink: (ByteBuffer) async throws -> Void
    ) async throws(BlobError) -> Blob {
        try check(key)
        if let range, range.isEmpty || range.lowerBound < 0 {
            throw BlobError(
                .invalid, "The range \(range) of \(location.name(key)) has no bytes: ask for some.")
        }
        var reading = Reading(range: range, tag: tag)
        return try await exchange {
            S3Request(
                method: .GET, key: key,
                headers: [("x-amz-checksum-mode", "ENABLED")] + reading.headers,
                right: "s3:GetObject and s3:ListBucket", failedCondition: .changed)
        } _: { response throws(AttemptFailure) in
            let blob = try reading.begin(response)
            do throws(AttemptFailure) {
                try await response.drain { piece throws(AttemptFailure) in
                    try reading.receive(piece)
                    do { try await sink(piece) } catch { throw .local(error) }
                }
            } catch {
                // If the body is already complete, an error at its end does not matter.
                guard case .transport = error, reading.isWhole else { throw error }
            }
            guard reading.isWhole else {
                throw .transport(TransportFailure(.lost, "the body is shorter than announced"))
            }
            return blob
        }
    }

    /// Rejects a key that is too long with the store's prefix.
    func check(_ key: BlobKey) throws(BlobError) {
        let count = location.fullKey(key.text).utf8.count
        guard count > BlobKey.bytesMax else { return }
        throw BlobError(
            .invalid,
            "The key \(key.text.prefix(64))… has \(count) bytes below the prefix of "
                + "\(configuration.url); a store keeps at most \(BlobKey.bytesMax): shorten the "
                + "prefix or the asset's path.")
    }

    /// The most keys of one request. Source: Amazon S3, DeleteObjects.
    static let deletesMax = 1_000

    /// Removes objects, up to a thousand per request.
    ///
    /// - Returns: The objects that still exist, each with the reason.
    public func delete(
        _ keys: [BlobKey]
    ) async throws(BlobError) -> [BlobKey: BlobError] {
        var left: [BlobKey: BlobError] = [:]
        for start in stride(from: 0, to: keys.count, by: Self.deletesMax) {
            let some = Array(keys[start..<min(start + Self.deletesMax, keys.count)])
            left.merge(try await deleteSome(some)) { $1 }
        }
        return left
    }

    private func deleteSome(
        _ keys: [BlobKey]
    ) async throws(BlobError) -> [BlobKey: BlobError] {
        let location = location
        let objects = keys.map {
            "<Object><Key>\(XMLText.escaped(location.fullKey($0.text)))</Key></Object>"
        }
        let body = Array("<Delete><Quiet>true</Quiet>\(objects.joined())</Delete>".utf8)
        // S3 requires a digest of this body, and older stores support only MD5.
        let md5 = Data(MD5.hash(data: body)).base64EncodedString()
        return try await exchange {
            S3Request(
                method: .POST, key: nil, query: [("delete", "")],
                headers: [("content-md5", md5), ("content-type", "application/xml")],
                body: .bytes(body), right: "s3:DeleteObject")
        } _: { response throws(AttemptFailure) in
            let result = try await Self.document(response, named: "DeleteResult")
            var left: [BlobKey: BlobError] = [:]
            for node in result.children where node.name == "Error" {
                guard let key = node.text(of: "Key").flatMap(location.key(ofListed:)) else {
                    throw .senseless("an error about no key")
                }
                left[key] = Self.refusedDelete(node, of: location.name(key))
            }
            // A missing key was removed by another client.
            return left.filter { $0.value.code != .notFound }
        }
    }

    private static func refusedDelete(_ node: XMLNode, of name: String) -> BlobError {
        let code = node.text(of: "Code") ?? ""
        let message = node.text(of: "Message")?.prefix(S3Refusal.messageMax) ?? ""
        let kind: BlobErrorCode =
            switch code {
            case "AccessDenied": .denied
            case "NoSuchKey": .notFound
            default: .unavailable
            }
        return BlobError(
            kind,
            "\(name) was not removed: the store answered \(code): \(message). "
                + (kind == .denied
                    ? "The policy needs s3:DeleteObject, and no lock may hold the object."
                    : "Try again later."),
            cause: S3Refusal(status: 200, document: node))
    }
}

/// Text in XML elements.
enum XMLText {
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text.unicodeScalars {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }
}
