extension S3Refusal {
    /// The ways in which a client goes on after an answer.
    enum Verdict: Sendable, Hashable {
        /// To try again later; more slowly if it says so.
        case retry(slowDown: Bool)
        /// To sign for another region.
        case move(region: String)
        /// To sign by the server's clock.
        case correctClock(BlobTime)
        /// To get other credentials.
        case renewCredentials
        /// To send the same bytes once more: they were harmed on the way.
        case sendAgain
        /// Nothing: it will be the same again.
        case fail(BlobError.Code)
    }

    /// How far the server's clock may be off from what we sign by. Source: Amazon S3, 15 minutes.
    static let clockSkewMax = 15 * 60

    /// The way on for a client that signed at `signed` for `region`.
    func verdict(signed: BlobTime, for region: String) -> Verdict {
        if let told = self.region, told != region, [301, 302, 307, 400].contains(status),
            isAboutRegion
        {
            return .move(region: told)
        }
        switch code {
        case "RequestTimeTooSkewed": return date.map { .correctClock($0) } ?? .fail(.misconfigured)
        // Keys that were replaced in their file, and the old ones removed, have no end that is told before.
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
        // HEAD has no body to say that it is about the token.
        case 400 where code == nil: return .renewCredentials
        case 401: return .fail(.denied)
        case 403:
            // HEAD has no body to say that it is about the clock.
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
        // HEAD's 400 and 301 have the header and no code.
        [
            nil, "AuthorizationHeaderMalformed", "PermanentRedirect", "TemporaryRedirect",
            "Redirect", "IllegalLocationConstraintException",
        ].contains(code)
    }

    /// Whether the store may have done what was asked, in spite of its answer.
    var mayHaveExecuted: Bool { status >= 500 && status != 501 && code != "SlowDown" }
}
