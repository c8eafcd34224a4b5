package import Edits
package import Library

/// A comparison of two versions of an asset: the differences of their edits.
package struct VersionComparison: Sendable {
    /// The two versions; `before` is the reference.
    package let before, after: Side

    package struct Side: Sendable {
        /// Its name: a version's id, or `original`.
        package let label: String
        /// The file that readers of the version see.
        package let file: StoredFile
        /// The edit; nil if no supported editor can decode it.
        package let recipe: Recipe?
        /// The photo on which the edit was made: the digest of a base, nil for the original.
        package let base: String?
    }

    /// Compares two versions.
    ///
    /// - Parameters:
    ///   - before: A version's id or revision, `draft`, or `original`.
    ///   - after: The other version.
    /// - Throws: `missingAsset`, `missingVersion`, `damagedVersion`, `ioFailure`.
    package init(
        _ before: String, _ after: String, of asset: AssetPath, in library: any LibraryReader
    ) async throws(Failure) {
        self.before = try await Self.find(before, asset, library)
        self.after = try await Self.find(after, asset, library)
    }

    /// The difference of the two edits; nil if one of them cannot be decoded.
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
        _ text: String, _ asset: AssetPath, _ library: any LibraryReader
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

extension Provenance {
    /// The engine that rendered the file that readers of the version see.
    package var engineText: String {
        guard let content else { return "the original" }
        return content.rendering?.engine ?? "came with the import"
    }
}

extension History.Move {
    /// The target of the move, for people.
    package var text: String {
        switch self {
        case .nothing: "nothing"
        case .original: "the original"
        case .version(let name): name
        case .collected(let name): "\(name), which is not kept any more: it would fail"
        }
    }
}
