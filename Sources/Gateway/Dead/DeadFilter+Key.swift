import Adjustments
import AccessKeys
import JobQueue

extension DeadFilter {
    /// Means a tenant's own jobs alone, where the key is a tenant's.
    ///
    /// - Throws: `notFound` when another tenant's are meant.
    mutating func hold(to key: AccessKey) throws(Problem) {
        guard let own = key.tenant else { return }
        guard tenant == nil || tenant == own else {
            throw Problem(.notFound, "There is no tenant \(tenant?.string ?? "").")
        }
        tenant = own
    }
}
