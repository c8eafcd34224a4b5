package import Edits

/// The outcome of a copy for one asset.
package struct CopiedAsset: Sendable, Equatable {
    /// The name of the asset, or of an original whose name is not valid for an asset.
    package let asset: String
    /// The result.
    package let result: Result

    /// The result of a copy for one asset.
    package enum Result: Sendable, Equatable {
        /// The target has the complete asset.
        case copied(Copied)
        /// The target is unchanged.
        case refused(Failure)
    }

    /// The numbers of written and existing files.
    package struct Copied: Sendable, Equatable {
        /// The number of versions of which something was written.
        package var versions = 0
        /// The numbers of files and bytes.
        package var tally = CopyTally()
    }
}

/// The outcome of a whole copy.
package struct CopySummary: Sendable, Equatable, Encodable {
    /// The number of assets that the target has completely, including unedited originals.
    package var assets = 0
    /// The number of versions of which something was written.
    package var versions = 0
    /// The numbers of files and bytes of those assets.
    package var tally = CopyTally()
    /// The number of refused assets.
    package var refused = 0

    package init() {}

    mutating func add(_ asset: CopiedAsset) {
        switch asset.result {
        case .copied(let copied):
            assets += 1
            versions += copied.versions
            tally.add(copied.tally)
        case .refused: refused += 1
        }
    }
}
