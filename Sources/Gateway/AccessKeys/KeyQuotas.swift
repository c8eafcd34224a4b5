/// The quotas of a key's holder; nil for the gateway's default.
package struct KeyQuotas: Sendable, Equatable, Codable {
    /// The maximum number of the tenant's jobs that have not ended.
    package var backlogMax: Int?
    /// The long-term rate of requests per second.
    package var requestsPerSecond: Int?
    /// The maximum number of simultaneous requests after a pause; nil for those of one second.
    package var requestBurst: Int?
    /// The maximum size of uploaded originals per day (UTC), in bytes.
    package var uploadBytesPerDay: Int?
    /// The maximum number of bytes of Redis that the tenant's jobs and batches take.
    package var storedBytesMax: Int?

    /// The maximum value of each quota except bytes.
    package static let countMax = 10_000_000
    /// The maximum value of the quota in bytes: a petabyte.
    package static let bytesMax = 1 << 50

    package init(
        backlogMax: Int? = nil, requestsPerSecond: Int? = nil, requestBurst: Int? = nil,
        uploadBytesPerDay: Int? = nil, storedBytesMax: Int? = nil
    ) {
        self.backlogMax = backlogMax
        self.requestsPerSecond = requestsPerSecond
        self.requestBurst = requestBurst
        self.uploadBytesPerDay = uploadBytesPerDay
        self.storedBytesMax = storedBytesMax
    }

    /// - Throws: `invalidTerms`.
    func check() throws(KeyError) {
        let all = [
            ("backlogMax", backlogMax, Self.countMax),
            ("requestsPerSecond", requestsPerSecond, Self.countMax),
            ("requestBurst", requestBurst, Self.countMax),
            ("uploadBytesPerDay", uploadBytesPerDay, Self.bytesMax),
            ("storedBytesMax", storedBytesMax, Self.bytesMax),
        ]
        for (name, value, most) in all {
            guard value.map({ (1...most).contains($0) }) ?? true else {
                throw KeyError(
                    .invalidTerms,
                    "quota \(name) is \(value ?? 0); allowed are 1 to \(most), or none.")
            }
        }
        guard requestBurst == nil || requestsPerSecond != nil else {
            throw KeyError(
                .invalidTerms,
                "quota requestBurst is \(requestBurst ?? 0) without requestsPerSecond; give both or neither."
            )
        }
    }
}
