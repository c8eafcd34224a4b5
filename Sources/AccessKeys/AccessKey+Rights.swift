package import Adjustments

/// The rights of a key: pure decisions. A thing that it may not see is answered as if it were not there.
extension AccessKey {
    /// Whether it may be used for this.
    package func permits(_ scope: Scope) -> Bool { terms.scopes.contains(scope) }

    /// Whether the asset is one of its own.
    package func covers(_ asset: AssetPath) -> Bool { terms.assetPrefix.covers(asset) }

    /// Whether what belongs to a tenant is its own.
    package func mayRead(tenant: String) -> Bool {
        terms.tenant.map { $0.string.utf8.elementsEqual(tenant.utf8) } ?? true
    }

    /// Whether a stored job or batch is its own.
    ///
    /// The id alone says too little: a trusted producer may have named a job of another tenant `acme.1`.
    ///
    /// - Parameters:
    ///   - id: the stored id.
    ///   - tenant: the one of the record.
    ///   - asset: the job's; nil when it has none, or for a batch.
    package func mayRead(id: String, tenant: String, asset: AssetPath?) -> Bool {
        covers(storedID: id) && mayRead(tenant: tenant) && (asset.map(covers) ?? true)
    }
}
