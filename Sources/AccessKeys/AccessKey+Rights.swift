package import Adjustments

/// The permissions of a key: pure decisions. The reply for an object outside them is the same as for one that does not exist.
extension AccessKey {
    /// Returns whether the key has a scope.
    package func permits(_ scope: Scope) -> Bool { terms.scopes.contains(scope) }

    /// Returns whether the asset is one of the key's own.
    package func covers(_ asset: AssetPath) -> Bool { terms.assetPrefix.covers(asset) }

    /// Returns whether the objects of a tenant belong to the key.
    package func mayRead(tenant: String) -> Bool {
        terms.tenant.map { $0.string.utf8.elementsEqual(tenant.utf8) } ?? true
    }

    /// Returns whether a stored job or batch belongs to the key.
    ///
    /// The id alone does not suffice: a trusted producer may have named another tenant's job `acme.1`.
    ///
    /// - Parameters:
    ///   - id: The stored id.
    ///   - tenant: The tenant in the record.
    ///   - asset: The asset of the job; nil if it has none, or for a batch.
    package func mayRead(id: String, tenant: String, asset: AssetPath?) -> Bool {
        covers(storedID: id) && mayRead(tenant: tenant) && (asset.map(covers) ?? true)
    }
}
