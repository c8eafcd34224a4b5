public import Edits
public import Files
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
    public func claim(
        _ key: RenderKey, of asset: AssetPath, for staged: StagedVersion
    ) async throws(Failure) -> RenderClaim {
        try await offPool { () throws(Failure) in
            try files.faults?.reach("claim", path(of: key))
            return try RenderFile.claim(key, for: staged, in: self)
        }
    }

    public func removeRenderRecord(_ key: String) async throws(Failure) {
        guard let key = RenderKey(recorded: key) else { return }
        try await offPool { () throws(Failure) in try files.remove(path(of: key)) }
    }

    /// Removes the files of keys whose render no version has any more, except those that a job has open. So their
    /// number stays below the number of versions.
    public func removeUnusedRenderRecords() async throws(Failure) {
        try await offPool { () throws(Failure) in
            for prefix in try files.list(renders) {
                for rest in try files.list(renders.appending(prefix)) {
                    guard let key = RenderKey(recorded: prefix + rest) else { continue }
                    try RenderFile.removeUnused(key, in: self)
                }
            }
        }
    }

    /// The folder of the files of all keys.
    var renders: FilePath { root.appending("renders") }

    func path(of key: RenderKey) -> FilePath { renders.pushing(FilePath(key.path)) }

    /// The folders of a source's version, which moves from the first to the second when it is published.
    func folders(of source: RenderRecord.Source) -> [FilePath] {
        guard let staged = source.staged, let name = VersionName(source.version) else { return [] }
        return [
            staging.folder(of: staged),
            folder(of: source.asset).folder(name, on: Shelf(isDraft: source.isDraft)),
        ]
    }
}

extension Content {
    /// The files that a version with the same render has in common with this one, and their names there.
    ///
    /// - Parameter stem: the name of the render without extension.
    package func reusedFiles(as stem: String) -> [(file: RecordedFile, name: String)] {
        recordedFiles.compactMap { file in
            switch file.subject {
            case .render: (file, render.renamed(stem).name)
            case .pairedVideo: pairedVideo.map { (file, $0.renamed(stem).name) }
            case .preview: (file, file.name)
            default: nil
            }
        }
    }
}

extension Content.Image {
    /// Returns the image under another name with the same extension.
    package func renamed(_ stem: String) -> Content.Image {
        Content.Image(name: stem + (FilePath(name).extension.map { "." + $0 } ?? ""), file)
    }
}

extension StagedVersion {
    package var holder: String { "\(queue)/\(job)" }
}

/// Parts of movies that are being rendered:
///
/// ```
/// <root>/segments/<two digits>/<the other 62>/<number>-<SHA-256>     a part of the render of a key
/// ```
extension LibraryFolder {
    public func readMoviePart(
        _ name: MoviePartName, into target: OpenFile
    ) async throws(Failure) -> Bool {
        try await offPool { () throws(Failure) in
            let folder = path(ofMovieParts: name.render)
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
    }

    public func keepMoviePart(_ part: OpenFile, as name: MoviePartName) async throws(Failure) {
        try await offPool { () throws(Failure) in
            let folder = path(ofMovieParts: name.render)
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
    }

    public func removeMovieParts(of render: RenderKey) async throws(Failure) {
        try await offPool { () throws(Failure) in try files.remove(path(ofMovieParts: render)) }
    }

    public func removeOldMovieParts() async throws(Failure) {
        try await removeMovieParts(
            writtenBefore: clock.addingTimeInterval(-Double(MoviePartName.age)))
    }

    func removeMovieParts(writtenBefore oldest: Date) async throws(Failure) {
        try await offPool { () throws(Failure) in
            for prefix in try files.list(movieParts) {
                for rest in try files.list(movieParts.appending(prefix)) {
                    let folder = movieParts.appending(prefix).appending(rest)
                    guard let written = try files.modified(folder), written < oldest else {
                        continue
                    }
                    try files.remove(folder)
                }
            }
        }
    }

    private var movieParts: FilePath { root.appending("segments") }

    private func path(ofMovieParts key: RenderKey) -> FilePath {
        movieParts.pushing(FilePath(key.path))
    }
}
