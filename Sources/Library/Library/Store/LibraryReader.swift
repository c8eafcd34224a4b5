public import Editors
public import Edits
public import Files
import FoundationEssentials

extension LibraryReader {
    /// Opens a file for reading, whatever its size.
    public func open(_ file: StoredFile) async throws(Failure) -> OpenFile {
        try await open(file, nil)
    }

    /// Returns the history of an asset, as far back as it is kept.
    ///
    /// - Throws: `missingAsset` if there is neither an edit nor an original; `storeUnavailable` if there is none because the library is
    ///   not at its place.
    public func versions(of asset: AssetPath) async throws(Failure) -> History {
        let state = try await state(of: asset)
        if state == AssetState() {
            try await checkPresence()
            try await checkOriginal(of: asset)
        }
        return History(try await history(of: asset), draft: state.draft)
    }

    /// Returns the version that a user names.
    ///
    /// - Parameter text: its id, or its revision. A draft is named by its id or the word `draft`.
    /// - Throws: `missingVersion`, with a list of the existing versions; `missingAsset`.
    public func version(
        _ text: String, of asset: AssetPath
    ) async throws(Failure) -> Provenance {
        // Permanent URLs have the id: one version is read for it, and not all.
        if let name = VersionName(text), let version = try await provenance(of: name, asset) {
            return version
        }
        let entries = try await versions(of: asset).entries
        for entry in entries {
            let isDraft = entry.version.isDraft
            if entry.version.version == text
                || (isDraft ? text == "draft" : text == "\(entry.version.revision)")
            {
                return entry.version
            }
        }
        let known = entries.map { ($0.version.isDraft ? "draft " : "") + $0.version.version }
        throw Failure(
            .missingVersion,
            "\(asset.string.debugDescription) has no version \(text.debugDescription); "
                + (known.isEmpty
                    ? "it has no edits."
                    : "it has \(known.prefix(10).joined(separator: ", "))"
                        + (known.count > 10 ? " and \(known.count - 10) more." : "."))
                + " See minilab history.")
    }

    /// Throws unless the original of an asset exists.
    ///
    /// - Throws: `missingAsset`, `assetOutsideLibrary`, `unsupportedFormat`, `ioFailure`.
    public func checkOriginal(of asset: AssetPath) async throws(Failure) {
        guard isElsewhere else {
            _ = try await open(.original(asset))
            return
        }
        // Checked without transferring the file.
        let found = try await info(of: .original(asset))
        guard found.bytes == nil else { return }
        throw Failure(
            .missingAsset,
            "there is no \(found.location), and \(asset.string.debugDescription) has no edits. Use the path of the "
                + "original as the asset's name.")
    }

    /// Returns the file that readers of a version see.
    public func shownFile(
        of version: Provenance, _ asset: AssetPath
    ) throws(Failure) -> StoredFile {
        guard let content = version.content else { return .original(asset) }
        return try StoredFile(content.render.name, of: version, asset)
    }

    /// Refuses an asset whose files in a version would have too long names.
    ///
    /// - Parameter format: the format of the render; nil: that of the original.
    /// - Throws: `invalidValue`.
    public func checkStem(of asset: AssetPath, format: Recipe.Format?) throws(Failure) {
        // The length of the sidecar's extension, or of the render's if that is longer.
        let ending = max(4, 1 + (format?.fileExtension.utf8.count ?? 0))
        let bytes = asset.stem.utf8.count + ending
        guard bytes > FileSystem.nameBytesMax else { return }
        throw Failure(
            .invalidValue,
            "the asset \(asset.string.debugDescription) has too long a name: its render or its adjustment data would "
                + "have one of \(bytes) bytes, and a file's may have \(FileSystem.nameBytesMax). Give the original a shorter "
                + "one.")
    }

    /// Returns the adjustment data of a version's content.
    ///
    /// - Throws: `badSidecar`, `ioFailure`.
    public func sidecar(
        of content: Content, in version: Provenance, _ asset: AssetPath
    ) async throws(Failure) -> AAESidecar {
        let name = content.adjustment.sidecar
        return try await sidecar(in: open(StoredFile(name, of: version, asset)))
    }

    /// Returns an uploaded sidecar below the originals.
    ///
    /// - Throws: `missingAsset`, `assetOutsideLibrary`, `badSidecar`, `ioFailure`.
    public func sidecar(at path: AssetPath) async throws(Failure) -> AAESidecar {
        try await sidecar(in: open(.original(path)))
    }

    private func sidecar(in file: OpenFile) async throws(Failure) -> AAESidecar {
        try await offPool { () throws(Failure) in try AAESidecar(reading: file) }
    }
}

extension AAESidecar {
    /// Reads a sidecar's file.
    ///
    /// - Throws: `badSidecar`, `ioFailure`.
    package init(reading file: OpenFile) throws(Failure) {
        let bytes = try FileSystem().read(
            file, bytesMax: Self.fileBytesMax, oversized: .badSidecar)
        do throws(Failure) {
            try self.init(bytes: Data(bytes))
        } catch {
            throw Failure(error.code, "\(file.name): \(error.message)")
        }
    }
}

/// A file of an asset, named like PhotoKit's resources.
public struct Layer: Sendable, Equatable, Encodable {
    public let kind: Kind
    /// Its absolute path, or its URL.
    public let path: String
    /// Its length; nil if the file is missing.
    public let bytes: Int?
    /// The SHA-256 in hex, as recorded, or of the bytes if nothing is recorded; nil if there are none.
    public let sha256: String?

    /// The kinds of layers.
    public enum Kind: String, Sendable, Encodable {
        case original
        /// The input of the edit, if that is not the original.
        case base
        case adjustmentData
        /// The file that readers of the version see.
        case render
        /// The movie of a Live Photo beside the original, the base and the render.
        case pairedVideo, basePairedVideo, renderPairedVideo
        /// A small picture of the render.
        case preview
        case draft
    }
}

extension LibraryReader {
    /// Returns the files of a version, the original first.
    ///
    /// - Parameters:
    ///   - version: the version; nil: the original alone.
    ///   - draft: the draft of the asset.
    /// - Throws: `ioFailure`. A missing file is no error.
    public func layers(
        of version: Provenance?, draft: Provenance?, _ asset: AssetPath
    ) async throws(Failure) -> [Layer] {
        let content = version?.content
        var layers = [try await layer(.original, .original(asset), content?.source.sha256)]
        if let version, let content {
            var files: [(Layer.Kind, name: String, sha256: String)] = []
            if let base = content.base { files.append((.base, base.name, base.input.sha256)) }
            if let movie = content.base?.pairedVideo {
                files.append((.basePairedVideo, movie.name, movie.sha256))
            }
            let adjustment = content.adjustment
            files.append((.adjustmentData, adjustment.sidecar, adjustment.sidecarSHA256))
            files.append((.render, content.render.name, content.render.sha256))
            if let movie = content.pairedVideo {
                files.append((.renderPairedVideo, movie.name, movie.sha256))
            }
            for preview in content.previews {
                files.append((.preview, preview.image.name, preview.image.sha256))
            }
            for (kind, name, sha256) in files {
                layers.append(
                    try await layer(kind, StoredFile(name, of: version, asset), sha256))
            }
        }
        if let draft, draft != version, let render = draft.content?.render {
            layers.append(
                try await layer(
                    .draft, StoredFile(render.name, of: draft, asset), render.sha256))
        }
        return layers
    }

    private func layer(
        _ kind: Layer.Kind, _ file: StoredFile, _ recorded: String?
    ) async throws(Failure) -> Layer {
        let found = try await info(of: file)
        var sha256 = recorded
        if recorded == nil, found.bytes != nil {
            let file = try await open(file)
            sha256 = try await FileDigest.digest(of: file).hex
        }
        return Layer(kind: kind, path: found.location, bytes: found.bytes, sha256: sha256)
    }
}

extension LibraryReader {
    /// Returns the jobs in the history of an asset. They include the draft's, because publishing the draft adds them
    /// to the history.
    public func publishedJobs(
        of asset: AssetPath, _ state: AssetState
    ) async throws(Failure) -> PublishedJobs {
        var lists: [PublishedJobs] = []
        for version in state.versions {
            var walk = HistoryWalk(listingJobsOf: version)
            while let name = walk.next { walk.add(try await provenance(of: name, asset)) }
            lists.append(walk.jobs)
        }
        return PublishedJobs(merging: lists)
    }

    /// Returns the version that a job has already made, by the asset's history; nil if there is none.
    public func publishedBefore(
        _ job: PublishedJob?, of asset: AssetPath, _ state: AssetState
    ) async throws(Failure) -> PublishedBefore? {
        guard let job,
            let before = try await publishedJobs(of: asset, state).version(of: job),
            let name = VersionName(before)
        else { return nil }
        if let shown = state.versions.first(where: { $0.version == before }) { return .kept(shown) }
        return try await provenance(of: name, asset).map { .kept($0) } ?? .gone(before)
    }
}
