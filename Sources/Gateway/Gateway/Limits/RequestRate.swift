import AccessKeys
import HTTPTypes

/// The requests a second of each key, counted by what they cost: a request, and one more for each further 4 KB of its body.
///
/// Originals and members are counted as bytes of the day instead, and take turns.
struct RequestRate: Sendable {
    /// The bytes of a body that count as one request. JSON of so many takes some 0.3 ms of a core.
    static let bytesOfRequest = 4 << 10

    /// Requests a second for a key without a quota of its own.
    let perSecond: Int
    private let limiter = RateLimiter(name: "requests")

    init(perSecond: Int) { self.perSecond = perSecond }

    /// Returns the number of requests as which a body counts.
    static func requests(ofBytes bytes: Int) -> Int {
        let (whole, rest) = bytes.quotientAndRemainder(dividingBy: bytesOfRequest)
        return max(1, whole + (rest > 0 ? 1 : 0))
    }

    /// Charges requests to the key's rate. One that counts more than the key may send at once needs all of that.
    ///
    /// - Returns: the fields of the answer that say how many are left.
    /// - Throws: `tooManyRequests`.
    @discardableResult
    func charge(_ requests: Int, to key: AccessKey) throws(Problem) -> HTTPFields {
        let rate = key.quotas.requestsPerSecond ?? perSecond
        let burst = key.quotas.requestBurst ?? rate
        let answer = limiter.consume(
            min(requests, burst), for: key.id, rate: rate, burst: burst)
        var fields = HTTPFields()
        for (name, value) in answer.headers {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        guard answer.isAllowed else {
            let cost =
                requests > 1
                ? ", and the body of this one counts as \(requests), one for each \(Self.bytesOfRequest) bytes"
                : ""
            var problem = Problem(
                .tooManyRequests,
                "Key \(key.id) may send \(rate) requests a second\(cost); ask again after "
                    + "\(answer.retryAfterSeconds ?? 1) s.")
            problem.headers = fields
            throw problem
        }
        return fields
    }
}
