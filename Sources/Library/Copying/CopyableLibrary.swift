package import Adjustments
package import Files

/// A library that a copy can be made of, and that can become one.
///
/// A file that is there already is no error: the target is the state of a copy, so one that was cut off is begun again.
package protocol CopyableLibrary: LibraryStore {
    // MARK: As the source

    /// All files below the originals, in the order of their names' bytes, a page at a time.
    func originals(
        _ page: (OriginalsPage) async throws(Failure) -> Void
    ) async throws(Failure)
    /// Whether anybody has edited an asset.
    func isEdited(_ asset: AssetPath) async throws(Failure) -> Bool

    // MARK: As the target

    /// Removes what copies that were killed have left unfinished.
    func sweepCopies() async throws(Failure)
    /// Adds an original, whole or not at all; the name must be free.
    ///
    /// - Parameter digest: of the source's bytes; what is stored has the same, or the call fails.
    func take(
        original source: OpenFile, _ digest: StoredDigest, of asset: AssetPath
    ) async throws(Failure)
    /// Adds the files of a version that are not there yet, its provenance last, where ``advance(_:to:)`` finds them.
    ///
    /// - Parameter source: has the files.
    /// - Throws: `damagedVersion` when a file of the source is not what is recorded, or when the target has another version
    ///   of this name.
    func take(
        _ version: VersionCopy, of asset: AssetPath, from source: any CopyableLibrary
    ) async throws(Failure) -> CopyTally
    /// Makes the versions of a history those of the asset, in one step, if ``KeptHistory/over(current:draft:)`` allows it.
    func advance(
        _ asset: AssetPath, to history: KeptHistory
    ) async throws(Failure) -> HeadAdvance
}

/// Some of the files below a library's originals.
package struct OriginalsPage: Sendable, Equatable {
    /// Those that have the name of an asset.
    package var assets: [AssetPath] = []
    /// Those that no asset can be named like, each with the reason.
    package var refused: [Refused] = []

    /// A file that cannot be an original.
    package struct Refused: Sendable, Equatable {
        /// Its path below the originals.
        package let name: String
        /// Why not.
        package let failure: Failure
    }

    package init() {}

    /// Adds a file.
    ///
    /// - Parameter name: its path below the originals.
    package mutating func add(_ name: String) {
        do throws(Failure) {
            assets.append(try AssetPath(name))
        } catch {
            refused.append(Refused(name: name, failure: error))
        }
    }
}

/// How many files and bytes a copy wrote and found.
package struct CopyTally: Sendable, Equatable, Encodable {
    /// Files that were written.
    package var filesCopied = 0
    /// Their bytes.
    package var bytesCopied = 0
    /// Files that were there, with the same bytes.
    package var filesSkipped = 0
    /// Their bytes.
    package var bytesSkipped = 0

    package init() {}

    /// Counts a file that was written.
    package mutating func copied(_ bytes: Int) {
        filesCopied += 1
        bytesCopied += bytes
    }

    /// Counts a file that was there.
    package mutating func skipped(_ bytes: Int) {
        filesSkipped += 1
        bytesSkipped += bytes
    }

    /// Adds what another one counted.
    package mutating func add(_ other: CopyTally) {
        filesCopied += other.filesCopied
        bytesCopied += other.bytesCopied
        filesSkipped += other.filesSkipped
        bytesSkipped += other.bytesSkipped
    }
}
