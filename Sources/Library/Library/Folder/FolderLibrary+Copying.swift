package import Edits
package import Files

extension FolderLibrary: CopyableLibrary {
    /// The most originals of a page.
    private static let originalsMax = 1_000

    package func originals(
        _ page: (OriginalsPage) async throws(Failure) -> Void
    ) async throws(Failure) {
        var listing = OriginalsListing(folder.originals, folder.files)
        while true {
            let here = listing
            let (next, found) = try await offPool { () throws(Failure) in
                var listing = here
                let found = try listing.next(atMost: Self.originalsMax)
                return (listing, found)
            }
            guard let found else { return }
            listing = next
            try await page(found)
        }
    }

    package func isEdited(_ asset: AssetPath) async throws(Failure) -> Bool {
        try await offPool { () throws(Failure) in try folder.isEdited(asset) }
    }

    package func sweepCopies() async throws(Failure) {
        try await offPool { () throws(Failure) in
            for staged in try staging.sweepable(in: LibraryFolder.copyQueue) {
                _ = try staging.sweep(staged)
            }
        }
    }

    package func copy(
        original source: OpenFile, _ digest: StoredDigest, of asset: AssetPath
    ) async throws(Failure) {
        try await offPool { () throws(Failure) in
            try folder.copy(original: source, digest, of: asset)
        }
    }

    /// Builds the version in staging and moves the complete folder to its shelf.
    package func copy(
        _ version: VersionCopy, of asset: AssetPath, from source: any CopyableLibrary
    ) async throws(Failure) -> CopyTally {
        let text = try await source.provenanceText(of: version, asset)
        let shelved = try await offPool { () throws(Failure) in
            try folder.shelved(version, text, of: asset)
        }
        if let shelved { return shelved }
        let staged = LibraryFolder.staged(version, of: asset)
        do throws(Failure) {
            var tally = CopyTally()
            try await offPool { () throws(Failure) in
                try staging.begin(staged)
                try folder.link(version, of: asset, into: staged)
            }
            for file in version.files {
                guard file.link == nil else {
                    tally.skipped(file.recorded.bytes ?? 0)
                    continue
                }
                let open = try await source.open(file, of: version, asset)
                let found = try await offPool { () throws(Failure) in
                    try staging.copy(open, as: file.recorded.name, into: staged, bytesMax: .max)
                }
                try file.recorded.check(
                    StoredDigest(sha256: found.hex, bytes: found.bytes), open.name)
                tally.copied(found.bytes)
            }
            try await offPool { () throws(Failure) in
                try folder.shelve(version, text, of: asset, from: staged)
            }
            tally.copied(text.count)
            return tally
        } catch {
            do throws(Failure) {
                try await discard(staged)
            } catch {
                // The first failure is more informative. The next copy removes the remaining files.
            }
            throw error
        }
    }

    package func advance(
        _ asset: AssetPath, to history: KeptHistory
    ) async throws(Failure) -> HeadAdvance {
        try await offPool { () throws(Failure) in try folder.advance(asset, to: history) }
    }
}
