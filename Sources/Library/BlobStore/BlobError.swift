public import Edits
import NIOHTTP1

/// The error of a call to an object store.
///
/// Failures that may be temporary were already retried, so after `unavailable` or `throttled` wait,
/// and do not retry in a loop.
public typealias BlobError = CodedError<BlobErrorCode>

public enum BlobErrorCode: ErrorCode, CaseIterable {
    /// The text is not a valid address of a store. The configuration must be corrected.
    case invalidURL
    /// A setting, or a file that it names, cannot be used.
    case invalidConfiguration
    /// The caller's request exceeds what stores support: a key is too long, or there are too
    /// many parts.
    case invalid
    /// There is no object with that key.
    case notFound
    /// The condition of a write does not hold. Nothing was written.
    case precondition
    /// The object's tag differs from the given one.
    case changed
    /// The store refused the credentials, or they lack a right.
    case denied
    /// No credentials were found, or their source returned none.
    case noCredentials
    /// Bucket, region, endpoint or TLS do not match the store. An operator must correct them.
    case misconfigured
    /// The store ignores the conditional writes that the library depends on.
    case conditionsIgnored
    /// The store asked for fewer requests, even after all retries.
    case throttled
    /// The store did not answer, or reported that it is temporarily unavailable.
    case unavailable
    /// A write may have taken effect. Read the object to find out.
    case unknownFate
    /// Bytes differ from their checksum, or an answer violates the protocol.
    case corrupt
    /// The store has no room left.
    case full
    /// The caller's source or sink failed; the error is in `cause`.
    case local
    /// The calling task was cancelled.
    case cancelled
}

extension BlobError {
    /// The store's own code, such as `NoSuchBucket`; nil if it gave none.
    public var storeCode: String? { (cause as? S3Refusal)?.code }
}

/// An error answer of a store. Source: Amazon S3 API reference, "Error responses".
struct S3Refusal: Error, Sendable, Hashable {
    /// The most characters of a store's own message that are passed on.
    static let messageMax = 300

    let status: Int
    /// The store's code; nil if the answer had no body, as for HEAD.
    var code: String?
    var message: String?
    /// The region of the bucket, if the answer states it.
    var region: String?
    /// The time by the server's clock.
    var date: BlobTime?
    var requestID: String?

    init(status: Int) {
        self.status = status
    }

    /// Parses an answer. If the body is not an S3 error, such as a proxy's page, only the status
    /// is used.
    init(status: Int, headers: HTTPHeaders, body: [UInt8]) {
        self.status = status
        region = headers.first(name: "x-amz-bucket-region")
        date = headers.first(name: "date").flatMap { BlobTime(httpDate: $0) }
        requestID = headers.first(name: "x-amz-request-id")
        do {
            read(try XMLNode(document: body))
        } catch {
            // Gateways answer with HTML or without a body; the status suffices then.
        }
    }

    /// Parses the `<Error>` in an answer with status 200.
    init(status: Int, document: XMLNode) {
        self.status = status
        read(document)
    }

    private mutating func read(_ document: XMLNode) {
        // STS encloses <Error> in <ErrorResponse>.
        let error = document.name == "Error" ? document : document["Error"]
        guard let error else { return }
        code = error.text(of: "Code")
        message = error.text(of: "Message").map { String($0.prefix(Self.messageMax)) }
        region = region ?? error.text(of: "Region")
        requestID = requestID ?? error.text(of: "RequestId")
    }

    /// The answer for messages: status, code, the store's message, the request's number.
    var sentence: String {
        let reason = [code, message].compactMap { $0 }.filter { !$0.isEmpty }.joined(
            separator: ": ")
        let number = requestID.map { " (request \($0.prefix(80)))" } ?? ""
        return "\(status)" + (reason.isEmpty ? "" : " \(reason)") + number
    }
}

extension S3Refusal {
    /// The reactions of a client to a refusal.
    enum Verdict: Sendable, Hashable {
        /// Try again later; more slowly if the store asks for it.
        case retry(slowDown: Bool)
        /// Sign for another region.
        case move(region: String)
        /// Sign with the server's clock.
        case correctClock(BlobTime)
        /// Fetch other credentials.
        case renewCredentials
        /// Send the same bytes once more: they were damaged in transit.
        case sendAgain
        /// Fail: a repeat would have the same result.
        case fail(BlobErrorCode)
    }

    /// The largest accepted difference between the server's clock and the signed time. Source:
    /// Amazon S3, 15 minutes.
    static let clockSkewMax = 15 * 60

    /// Returns the reaction of a client that signed at `signed` for `region`.
    func verdict(signed: BlobTime, for region: String) -> Verdict {
        if let answered = self.region, answered != region, [301, 302, 307, 400].contains(status),
            isAboutRegion
        {
            return .move(region: answered)
        }
        switch code {
        case "RequestTimeTooSkewed": return date.map { .correctClock($0) } ?? .fail(.misconfigured)
        // If keys in a file are replaced and the old ones deleted, no expiry announces it.
        case "ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired", "InvalidToken",
            "InvalidAccessKeyId", "SignatureDoesNotMatch":
            return .renewCredentials
        case "SlowDown", "Throttling", "ThrottlingException", "TooManyRequests",
            "RequestLimitExceeded", "BandwidthLimitExceeded":
            return .retry(slowDown: true)
        case "RequestTimeout", "ConditionalRequestConflict", "OperationAborted":
            return .retry(slowDown: false)
        case "BadDigest", "XAmzContentSHA256Mismatch", "XAmzContentChecksumMismatch",
            "InvalidDigest", "IncompleteBody":
            return .sendAgain
        case "NoSuchBucket", "PermanentRedirect", "InvalidBucketName", "InvalidStorageClass",
            "NotImplemented", "AuthorizationHeaderMalformed":
            return .fail(.misconfigured)
        case "QuotaExceeded", "InsufficientStorage", "XMinioStorageFull", "InsufficientCapacity":
            return .fail(.full)
        default: break
        }
        switch status {
        // HEAD has no body that would identify the token as the cause.
        case 400 where code == nil: return .renewCredentials
        case 401: return .fail(.denied)
        case 403:
            // HEAD has no body that would identify the clock as the cause.
            if code == nil, let date, abs(date.seconds - signed.seconds) > Self.clockSkewMax {
                return .correctClock(date)
            }
            return .fail(.denied)
        case 404: return .fail(.notFound)
        case 412: return .fail(.precondition)
        case 416: return .fail(.invalid)
        case 429: return .retry(slowDown: true)
        case 503: return .retry(slowDown: true)
        case 408: return .retry(slowDown: false)
        case 507: return .fail(.full)
        case 501, 505: return .fail(.misconfigured)
        case 500...: return .retry(slowDown: false)
        default: return .fail(.misconfigured)
        }
    }

    private var isAboutRegion: Bool {
        // The 400 and 301 answers to HEAD have the header and no code.
        [
            nil, "AuthorizationHeaderMalformed", "PermanentRedirect", "TemporaryRedirect",
            "Redirect", "IllegalLocationConstraintException",
        ].contains(code)
    }

    /// Whether the store may have executed the request in spite of its answer.
    var mayHaveExecuted: Bool { status >= 500 && status != 501 && code != "SlowDown" }
}
