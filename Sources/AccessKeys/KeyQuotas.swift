/// How much a key's holder may ask for; nil leaves it to the gateway.
package struct KeyQuotas: Sendable, Equatable, Codable {
    /// Jobs of the tenant that have not ended.
    package var backlogMax: Int?
    /// Requests a second, in the long run.
    package var requestsPerSecond: Int?
    /// Requests at once, after a quiet time; nil: those of one second.
    package var requestBurst: Int?
    /// Bytes of originals a day, in UTC.
    package var uploadBytesPerDay: Int?

    /// Highest number of any of them but bytes.
    package static let countMax = 10_000_000
    /// Highest number of bytes: a petabyte.
    package static let bytesMax = 1 << 50

    package init(
        backlogMax: Int? = nil, requestsPerSecond: Int? = nil, requestBurst: Int? = nil,
        uploadBytesPerDay: Int? = nil
    ) {
        self.backlogMax = backlogMax
        self.requestsPerSecond = requestsPerSecond
        self.requestBurst = requestBurst
        self.uploadBytesPerDay = uploadBytesPerDay
    }

    /// - Throws: `invalidTerms`.
    func check() throws(KeyError) {
        let all = [
            ("backlogMax", backlogMax, Self.countMax),
            ("requestsPerSecond", requestsPerSecond, Self.countMax),
            ("requestBurst", requestBurst, Self.countMax),
            ("uploadBytesPerDay", uploadBytesPerDay, Self.bytesMax),
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
