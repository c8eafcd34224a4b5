package import Edits

/// The terms of a key: its permissions, owner and end. They are chosen at its creation; only the quotas can be
/// changed afterwards.
package struct KeyTerms: Sendable, Equatable {
    /// The name for people; may be empty.
    package let label: String
    /// The tenant of the key; nil for an operator's key, which covers all tenants. It contains no dot.
    package let tenant: JobID?
    package let assetPrefix: AssetPrefix
    package let scopes: Set<Scope>
    package let quotas: KeyQuotas
    /// The origins whose pages may use the key from a browser (CORS).
    package let corsOrigins: [String]
    /// The time at which it expires, ms since 1970 by the clock of Redis; nil for never.
    package let expiresAt: Int?

    /// The maximum length of the label, in bytes.
    package static let labelBytesMax = 200
    package static let originsMax = 16
    /// The maximum length of an origin, in bytes: a host name has at most 253.
    package static let originBytesMax = 270
    /// The latest permitted end: the year 9999.
    package static let expiresAtMax = 253_402_300_799_000

    /// - Throws: `invalidTerms`.
    package init(
        label: String = "", tenant: JobID?, assetPrefix: AssetPrefix, scopes: Set<Scope>,
        quotas: KeyQuotas = KeyQuotas(), corsOrigins: [String] = [], expiresAt: Int? = nil
    ) throws(KeyError) {
        guard label.utf8.count <= Self.labelBytesMax, !label.hasControls else {
            throw KeyError(
                .invalidTerms,
                "label \(String(label.prefix(80)).debugDescription.printable) is not allowed: at most "
                    + "\(Self.labelBytesMax) bytes, no control characters.")
        }
        guard !(tenant?.string.utf8.contains(UInt8(ascii: ".")) ?? false) else {
            throw KeyError(
                .invalidTerms,
                "tenant \(tenant?.string ?? "") has a dot; a tenant with keys has none, because jobs are kept as "
                    + "<tenant>.<id>.")
        }
        guard !scopes.isEmpty else {
            throw KeyError(
                .invalidTerms,
                "a key without a scope can do nothing; give one or more of "
                    + Scope.allCases.map(\.rawValue).joined(separator: ", ") + ".")
        }
        guard expiresAt.map({ (1...Self.expiresAtMax).contains($0) }) ?? true else {
            throw KeyError(
                .invalidTerms,
                "the end \(expiresAt ?? 0) is no time in ms since 1970 before the year 10000.")
        }
        try quotas.check()
        try Self.check(corsOrigins)
        self.label = label
        self.tenant = tenant
        self.assetPrefix = assetPrefix
        self.scopes = scopes
        self.quotas = quotas
        self.corsOrigins = corsOrigins
        self.expiresAt = expiresAt
    }

    /// Returns the terms with other quotas.
    ///
    /// - Throws: `invalidTerms`.
    package func with(_ quotas: KeyQuotas) throws(KeyError) -> KeyTerms {
        try KeyTerms(
            label: label, tenant: tenant, assetPrefix: assetPrefix, scopes: scopes, quotas: quotas,
            corsOrigins: corsOrigins, expiresAt: expiresAt)
    }

    /// Returns the terms with another end.
    ///
    /// - Throws: `invalidTerms`.
    func with(expiresAt: Int?) throws(KeyError) -> KeyTerms {
        try KeyTerms(
            label: label, tenant: tenant, assetPrefix: assetPrefix, scopes: scopes, quotas: quotas,
            corsOrigins: corsOrigins, expiresAt: expiresAt)
    }

    /// Checks origins in the form that browsers send: scheme, host in lower case, port if it is not the default (RFC 6454, 6.2).
    private static func check(_ origins: [String]) throws(KeyError) {
        guard origins.count <= originsMax else {
            throw KeyError(
                .invalidTerms,
                "\(origins.count) origins are given; a key has at most \(originsMax).")
        }
        for origin in origins {
            guard origin.utf8.count <= originBytesMax,
                origin.wholeMatch(of: /https?:\/\/([a-z0-9.\-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?/)
                    != nil
            else {
                throw KeyError(
                    .invalidTerms,
                    "origin \(String(origin.prefix(80)).debugDescription.printable) is none that a browser sends; give "
                        + "it as in https://photos.example or http://localhost:3000, without a path."
                )
            }
        }
    }
}

extension KeyTerms: Codable {
    private enum CodingKeys: String, CodingKey {
        case label, tenant, assetPrefix, scopes, quotas, corsOrigins, expiresAt
    }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        try self.init(
            label: fields.decodeIfPresent(String.self, forKey: .label) ?? "",
            tenant: fields.decodeIfPresent(JobID.self, forKey: .tenant),
            assetPrefix: fields.decode(AssetPrefix.self, forKey: .assetPrefix),
            scopes: fields.decode(Set<Scope>.self, forKey: .scopes),
            quotas: fields.decodeIfPresent(KeyQuotas.self, forKey: .quotas) ?? KeyQuotas(),
            corsOrigins: fields.decodeIfPresent([String].self, forKey: .corsOrigins) ?? [],
            expiresAt: fields.decodeIfPresent(Int.self, forKey: .expiresAt))
    }

    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(label, forKey: .label)
        try fields.encodeIfPresent(tenant, forKey: .tenant)
        try fields.encode(assetPrefix, forKey: .assetPrefix)
        try fields.encode(scopes.sorted(), forKey: .scopes)
        try fields.encode(quotas, forKey: .quotas)
        try fields.encode(corsOrigins, forKey: .corsOrigins)
        try fields.encodeIfPresent(expiresAt, forKey: .expiresAt)
    }
}

/// The quotas of a key's holder; nil for the gateway's default.
package struct KeyQuotas: Sendable, Equatable, Codable {
    /// The maximum number of the tenant's jobs that have not ended.
    package var backlogMax: Int?
    /// The long-term rate of requests per second; a body counts as one for each 4 KB.
    package var requestsPerSecond: Int?
    /// The maximum number of simultaneous requests after a pause; nil for those of one second.
    package var requestBurst: Int?
    /// The maximum size of uploaded originals per day (UTC), in bytes.
    package var uploadBytesPerDay: Int?
    /// The maximum number of bytes of Redis that the tenant's jobs and batches take.
    package var storedBytesMax: Int?

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
