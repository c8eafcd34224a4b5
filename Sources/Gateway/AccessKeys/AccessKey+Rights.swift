package import Edits

/// The permissions of a key: pure decisions. The reply for an object outside them is the same as for one that does not exist.
extension AccessKey {
    /// Returns whether the key has a scope.
    package func permits(_ scope: Scope) -> Bool { terms.scopes.contains(scope) }

    /// The key's objects: everything that reads or changes some for its holder asks this, or is made with it.
    package var reach: Reach {
        Reach(tenant: terms.tenant?.string, folder: terms.assetPrefix.string)
    }

    /// The folder that a batch records which the key opens; nil for an operator's key, whose batches are their tenants' as a whole.
    package var batchFolder: String? { reach.isEverything ? nil : reach.folder }

    /// Returns whether the asset is one of the key's own.
    package func covers(_ asset: AssetPath) -> Bool { reach.covers(asset: asset.string) }
}
