import Redis

/// The limits that are set for one tenant; nil where none is.
public struct TenantRules: Sendable, Codable, Equatable {
    /// Jobs of it that run at the same time; 0 pauses it.
    public var cap: Int?
    /// Its share beside the others'.
    public var weight: Int?
}

extension JobQueue {
    /// The limits of tenants, by tenant; those without any are not in it.
    public func tenantRules() async throws(QueueError) -> [String: TenantRules] {
        let config = try await send(["HGETALL", RedisArgument(name.keys.config)]).pairs ?? [:]
        var rules: [String: TenantRules] = [:]
        for (key, value) in config {
            if let tenant = Self.tenant(of: key, "cap:") {
                rules[tenant, default: TenantRules()].cap = Int(value)
            } else if let tenant = Self.tenant(of: key, "weight:") {
                rules[tenant, default: TenantRules()].weight = Int(value)
            }
        }
        return rules
    }

    /// How many jobs of each tenant workers hold.
    public func runningByTenant() async throws(QueueError) -> [String: Int] {
        try await send(["HGETALL", RedisArgument(name.keys.running)]).pairs?
            .compactMapValues { Int($0) } ?? [:]
    }

    private static func tenant(of key: String, _ prefix: String) -> String? {
        key.hasPrefix(prefix) ? String(key.dropFirst(prefix.count)) : nil
    }
}
