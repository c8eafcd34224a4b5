package import Adjustments

/// The outcome of a copy for one asset.
package struct CopiedAsset: Sendable, Equatable {
    /// Its name; or that of an original that can be no asset.
    package let asset: String
    /// How it went.
    package let result: Result

    /// How it went.
    package enum Result: Sendable, Equatable {
        /// The target has all of it.
        case copied(Copied)
        /// The target shows what it showed before.
        case refused(Failure)
    }

    /// The files that were written and found.
    package struct Copied: Sendable, Equatable {
        /// Versions of which something was written.
        package var versions = 0
        /// Files and bytes.
        package var tally = CopyTally()
    }
}

/// The outcome of a whole copy.
package struct CopySummary: Sendable, Equatable, Encodable {
    /// Assets that the target has whole, originals that nobody has edited counted.
    package var assets = 0
    /// Versions of which something was written.
    package var versions = 0
    /// Files and bytes of those assets.
    package var tally = CopyTally()
    /// Assets that were refused.
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
