import Redis

/// The limits of one tenant; nil where none is set.
public struct TenantRules: Sendable, Codable, Equatable {
    /// The maximum number of its running jobs; 0 pauses the tenant.
    public var cap: Int?
    /// Its weight in fair queuing.
    public var weight: Int?
}

extension JobQueue {
    /// Returns the limits by tenant. Tenants without limits are left out.
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

    /// Returns the number of jobs that workers hold, by tenant.
    public func runningByTenant() async throws(QueueError) -> [String: Int] {
        try await send(["HGETALL", RedisArgument(name.keys.running)]).pairs?
            .compactMapValues { Int($0) } ?? [:]
    }

    private static func tenant(of key: String, _ prefix: String) -> String? {
        key.hasPrefix(prefix) ? String(key.dropFirst(prefix.count)) : nil
    }
}
