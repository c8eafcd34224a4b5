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
        case fail(BlobError.Code)
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
