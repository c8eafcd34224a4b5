import Adjustments
import AccessKeys
import JobQueue

extension DeadFilter {
    /// Restricts the filter to the jobs of the key's tenant, if the key has one.
    ///
    /// - Throws: `notFound` if the filter names another tenant.
    mutating func restrict(to key: AccessKey) throws(Problem) {
        guard let own = key.tenant else { return }
        guard tenant == nil || tenant == own else {
            throw Problem(.notFound, "There is no tenant \(tenant?.string ?? "").")
        }
        tenant = own
    }
}
