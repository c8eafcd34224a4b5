public import Edits
import Files
import FoundationEssentials
import SystemPackage

/// The reuse of existing renders:
///
/// ```
/// <root>/renders/<two digits>/<the other 62>     the file of a key: the versions that have its render
/// ```
///
/// They are hard-linked and compared with their digests. If a render or the file of a key is damaged, the photo is
/// rendered again. Nothing is lost if `renders` is removed.
extension LibraryFolder {
    /// Requests the file of a key, without waiting.
    ///
    /// - Parameter staged: the staged version of the job that would render.
    func claim(
        _ key: RenderKey, for staged: StagedVersion
    ) throws(Failure) -> RenderFile.Claim {
        try files.faults?.reach("claim", path(ofRender: key.hex))
        let claim = try RenderFile.open(
            path(ofRender: key.hex), key, for: staged.holder, making: true, files)
        return claim ?? .busy
    }

    /// Links a render of the entry's key into a staged version if a version has it. Otherwise records in the entry
    /// that this job makes it.
    ///
    /// - Parameter stem: the name of the render without extension.
    /// - Returns: nil if the photo must be rendered. No remains are left in that case.
    func reuse(
        _ entry: RenderFile, as stem: String, into staged: StagedVersion
    ) throws(Failure) -> RenderedPhoto? {
        for source in entry.record.sources {
            // A version moves from staging to its shelf, so the folders are tried in that order.
            for folder in folders(of: source) {
                if let content = donor(in: folder, entry.key), content.recipe != nil,
                    try link(content, from: folder, as: stem, into: staged)
                {
                    return RenderedPhoto(
                        content, as: stem,
                        from: source.staged?.holder == staged.holder
                            ? nil : "\(source.asset)@\(source.version)")
                }
            }
        }
        try files.faults?.reach("update", path(ofRender: entry.key.hex))
        try entry.update { $0.begin(staged.holder) }
        return nil
    }

    /// Offers the render of a version that is sealed in staging, and releases the entry.
    func offer(
        _ entry: RenderFile, _ version: Provenance, of asset: AssetPath, in staged: StagedVersion
    ) throws(Failure) {
        // Also when the file cannot be written: other jobs wait for it.
        defer { entry.release() }
        try files.faults?.reach("update", path(ofRender: entry.key.hex))
        try entry.update { record in
            record.holder = nil
            record.add(RenderRecord.Source(version, of: asset, in: staged))
        }
    }

    /// Offers a reused render, unless another job holds the entry. In that case the source of the render, or that
    /// job's version, suffices.
    func offer(
        _ key: RenderKey, _ version: Provenance, of asset: AssetPath, in staged: StagedVersion
    ) throws(Failure) {
        guard case .claimed(let entry) = try claim(key, for: staged) else { return }
        try offer(entry, version, of: asset, in: staged)
    }

    func path(ofRender key: String) -> FilePath {
        renders.appending(String(key.prefix(2))).appending(String(key.dropFirst(2)))
    }

    var renders: FilePath { root.appending("renders") }

    func folders(of source: RenderRecord.Source) -> [FilePath] {
        guard let staged = source.staged, let name = VersionName(source.version) else { return [] }
        return [
            staging.folder(of: staged),
            self.folder(name, on: source.isDraft ? .drafts : .versions, of: source.asset),
        ]
    }

    /// Returns the content of a version if it is unchanged since it was sealed and has the render of a key.
    private func donor(in folder: FilePath, _ key: RenderKey) -> Content? {
        do throws(Failure) {
            let bytes = Data(
                try files.read(
                    Provenance.fileName, in: folder, bytesMax: Provenance.fileBytesMax))
            guard Provenance.isSealed(bytes),
                let content = try Provenance(
                    reading: bytes, at: folder.appending(Provenance.fileName)
                ).content,
                content.rendering?.key == key.hex
            else { return nil }
            return content
        } catch {
            return nil  // missing or damaged: the photo is rendered
        }
    }

    /// Links render, movie and previews, and compares the linked files with their digests.
    ///
    /// - Returns: false if a file is damaged. No remains are left in that case.
    /// - Throws: if linked files cannot be removed again: a render would otherwise be written into the other
    ///   version's files.
    private func link(
        _ content: Content, from folder: FilePath, as stem: String, into staged: StagedVersion
    ) throws(Failure) -> Bool {
        let images =
            [content.render, content.pairedVideo].compactMap { image in
                image.map { ($0, $0.renamed(stem).name) }
            } + content.previews.map { ($0.image, $0.image.name) }
        do throws(Failure) {
            for (image, name) in images {
                try staging.link(folder.pushing(FilePath(image.name)), as: name, into: staged)
                let path = staging.folder(of: staged).pushing(FilePath(name))
                let found = try digest(of: path)
                guard found.hex == image.sha256, found.bytes == image.bytes else {
                    throw Failure(.ioFailure, "\(path) does not match its record.")
                }
            }
        } catch {
            for (_, name) in images {
                try files.remove(staging.folder(of: staged).pushing(FilePath(name)))
            }
            return false
        }
        return true
    }
}

extension Content.Image {
    /// Returns the image under another name with the same extension.
    package func renamed(_ stem: String) -> Content.Image {
        Content.Image(name: stem + (FilePath(name).extension.map { "." + $0 } ?? ""), file)
    }
}

extension StagedVersion {
    /// The job, regardless of the hold.
    package var holder: String { "\(queue)/\(job)" }
}

/// Parts of movies that are being rendered:
///
/// ```
/// <root>/segments/<two digits>/<the other 62>/<number>-<SHA-256>     a part of the render of a key
/// ```
extension LibraryFolder {
    /// Copies an existing part into a file.
    ///
    /// - Returns: false if there is no intact part. The content of the file is then undefined.
    func readMoviePart(_ name: MoviePartName, into target: OpenFile) throws(Failure) -> Bool {
        let folder = path(ofMovieParts: name.render.hex)
        for file in try files.list(folder) where file.hasPrefix("\(name.number)-") {
            let source: OpenFile
            do throws(Failure) {
                source = try OpenFile(reading: folder.appending(file).string)
            } catch {
                continue  // collected in the meantime
            }
            try target.cut(to: 0)
            let digest = try FileCopy.copy(source, to: target)
            if file == "\(name.number)-\(digest.hex)" { return true }
            try files.remove(folder.appending(file))
        }
        return false
    }

    /// Stores a copy of a part for a later worker.
    func keepMoviePart(_ part: OpenFile, as name: MoviePartName) throws(Failure) {
        let folder = path(ofMovieParts: name.render.hex)
        _ = try files.makeFolder(folder)
        let new = folder.appending(".\(UUID().uuidString)")
        do throws(Failure) {
            let digest = try FileCopy.copy(part, toNew: new.string)
            try files.move(new, to: folder.appending("\(name.number)-\(digest.hex)"))
        } catch {
            try files.remove(new)
            throw error
        }
    }

    /// Removes the parts of a movie.
    func removeMovieParts(of render: RenderKey) throws(Failure) {
        try files.remove(path(ofMovieParts: render.hex))
    }

    /// Removes the parts of movies that were not written for ``MoviePartName/age``.
    func removeOldMovieParts(before now: Date) throws(Failure) {
        let oldest = now.addingTimeInterval(-Double(MoviePartName.age))
        for prefix in try files.list(movieParts) {
            for rest in try files.list(movieParts.appending(prefix)) {
                let folder = movieParts.appending(prefix).appending(rest)
                guard let written = try files.modified(folder), written < oldest else { continue }
                try files.remove(folder)
            }
        }
    }

    private var movieParts: FilePath { root.appending("segments") }

    private func path(ofMovieParts key: String) -> FilePath {
        movieParts.appending(String(key.prefix(2))).appending(String(key.dropFirst(2)))
    }

    /// Ends the reuse of a key's render, which was found to be wrong.
    ///
    /// - Parameter key: the key as recorded in a provenance.
    public func removeRenderRecord(_ key: String) throws(Failure) {
        guard let key = RenderKey(recorded: key) else { return }
        try files.remove(path(ofRender: key.hex))
    }

    /// Removes the files of keys whose render no version has any more, except those that a job has open.
    ///
    /// So their number stays below the number of versions.
    ///
    /// - Returns: the number of removed files.
    @discardableResult
    public func removeUnusedRenderRecords() throws(Failure) -> Int {
        var count = 0
        for prefix in try files.list(renders) {
            let folder = renders.appending(prefix)
            for rest in try files.list(folder) {
                let path = folder.appending(rest)
                guard let key = RenderKey(recorded: prefix + rest),
                    case .claimed(let entry)? = try RenderFile.open(path, key, making: false, files),
                    try !isThere(entry.record)
                else { continue }
                try files.remove(path)
                count += 1
            }
        }
        return count
    }

    private func isThere(_ record: RenderRecord) throws(Failure) -> Bool {
        for source in record.sources {
            for folder in folders(of: source) where try files.isFolder(folder) { return true }
        }
        return false
    }
}
