package import Adjustments
package import Library

/// Two versions of an asset beside each other: what makes one edit another.
package struct VersionComparison: Sendable {
    /// The two, the one that is compared with first.
    package let before, after: Side

    /// One of the two.
    package struct Side: Sendable {
        /// Its name: a version's id, or `original`.
        package let label: String
        /// The file that readers of it see.
        package let file: StoredFile
        /// nil when no editor here can read the edit.
        package let recipe: Recipe?
        /// The photo that the edit was made on: the digest of a base, nil for the original.
        package let base: String?
    }

    /// Compares two versions.
    ///
    /// - Parameters:
    ///   - before: a version's id or revision, `draft`, or `original`.
    ///   - after: the other.
    /// - Throws: `missingAsset`, `missingVersion`, `damagedVersion`, `ioFailure`.
    package init(
        _ before: String, _ after: String, of asset: AssetPath, in library: any LibraryStore
    ) async throws(Failure) {
        self.before = try await Self.find(before, asset, library)
        self.after = try await Self.find(after, asset, library)
    }

    /// The difference of the two edits; nil when one of them cannot be read.
    package var comparison: RecipeComparison? {
        guard let old = before.recipe, let new = after.recipe else { return nil }
        return RecipeComparison(from: old, to: new)
    }

    /// Further facts, for people.
    package var notes: [String] {
        let unread = [before, after].filter { $0.recipe == nil }.map {
            "no editor here reads the edit of \($0.label); see minilab show"
        }
        return unread
            + (before.base == after.base
                ? []
                : ["the two were not made on the same photo: one has a base, or another base"])
    }

    private static func find(
        _ text: String, _ asset: AssetPath, _ library: any LibraryStore
    ) async throws(Failure) -> Side {
        let unedited = try Recipe(filters: [])
        guard text != "original" else {
            return Side(label: "original", file: .original(asset), recipe: unedited, base: nil)
        }
        let version = try await library.version(text, of: asset)
        guard let content = version.content else {
            return Side(
                label: "\(version.version) (the original)", file: .original(asset),
                recipe: unedited, base: nil)
        }
        return Side(
            label: version.version, file: try library.shownFile(of: version, asset),
            recipe: content.recipe, base: content.base?.input.sha256)
    }
}
