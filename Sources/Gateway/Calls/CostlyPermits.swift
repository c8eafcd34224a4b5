import AccessKeys
import Adjustments
import Synchronization

/// The permits for calls that cost far more than their answers: those that read a whole original, all versions of an asset, or
/// all dead jobs of the queue. Without a share for each tenant, one key would keep every thread for file calls, and Redis, busy.
final class CostlyPermits: Sendable {
    /// The most of these calls at a time of one tenant, and of all operators together.
    static let perTenantMax = 4
    /// The most of these calls at a time of all tenants together, a fraction of the threads for file calls. Operators have
    /// their own share beside it.
    static let tenantsMax = 16

    /// Calls by tenant; operators under the empty name.
    private let open = Mutex<[String: Int]>([:])

    /// Runs `body` while the key's tenant holds a permit.
    ///
    /// - Throws: `tooManyRequests`; the error of `body`.
    func withPermit<Result>(
        by key: AccessKey, _ body: () async throws -> Result
    ) async throws -> Result {
        let owner = key.reach.tenant ?? ""
        let isThere = open.withLock { open in
            let tenants = open.reduce(0) { $1.key.isEmpty ? $0 : $0 + $1.value }
            guard open[owner, default: 0] < Self.perTenantMax,
                owner.isEmpty || tenants < Self.tenantsMax
            else { return false }
            open[owner, default: 0] += 1
            return true
        }
        guard isThere else {
            throw Problem(
                .tooManyRequests,
                "Too many calls that read whole originals or all dead jobs are in progress: at most \(Self.perTenantMax) at "
                    + "a time for a tenant and \(Self.tenantsMax) for all. Ask again when one has ended.",
                retryAfter: 1)
        }
        defer {
            open.withLock { open in
                open[owner, default: 1] -= 1
                if open[owner] == 0 { open[owner] = nil }
            }
        }
        return try await body()
    }
}
