public import Adjustments
import Files
import FoundationEssentials
import SystemPackage

/// A render that was made before, with its previews, as a staged version has it now.
public struct ReusedRender: Sendable {
    /// What it was made of.
    public let input: Content.Input
    /// The recipe as it was resolved for the full photo.
    public let recipe: Recipe
    /// How it was made.
    public let rendering: Content.Rendering
    /// The render, under our name.
    public let render: Content.Image
    /// The movie of a Live Photo that goes with it, under our name.
    public let pairedVideo: Content.Image?
    /// The previews.
    public let previews: [Content.Preview]
    /// The tiny JPEG that goes with previews.
    public let placeholder: String?
    /// `asset@version` that it was taken from; nil when an earlier attempt of our own job made it.
    public let from: String?

    /// Describes a render; nil when a version's content does not tell how it was made.
    ///
    /// - Parameters:
    ///   - stem: of names in the version that takes it over.
    package init?(_ content: Content, as stem: String, from: String?) {
        guard let recipe = content.recipe, let rendering = content.rendering else { return nil }
        input = content.input
        self.recipe = recipe
        self.rendering = rendering
        render = content.render.renamed(stem)
        pairedVideo = content.pairedVideo?.renamed(stem)
        previews = content.previews
        placeholder = content.placeholder
        self.from = from
    }
}

/// Renders that are already there:
///
/// ```
/// <root>/renders/<two digits>/<the other 62>     the file of a key: which versions have its render
/// ```
///
/// They are taken over as hard links and compared with their digests. Whatever is wrong with one, or with the file,
/// the photo is rendered: nothing is lost if all of `renders` is removed.
extension LibraryFolder {
    /// Asks for the file of a key; does not wait.
    ///
    /// - Parameter staged: of the job that would render.
    func claim(
        _ key: RenderKey, for staged: StagedVersion
    ) throws(Failure) -> RenderFile.Claim {
        try files.faults?.reach("claim", path(ofRender: key.hex))
        let claim = try RenderFile.open(
            path(ofRender: key.hex), key, for: staged.holder, making: true, files)
        return claim ?? .busy
    }

    /// Gives a staged version a render of the entry's key, if a version has it; else the entry says that our job
    /// makes it.
    ///
    /// - Parameter stem: name of the render without extension.
    /// - Returns: nil when it has to be rendered; nothing of what was tried is left then.
    func reuse(
        _ entry: RenderFile, as stem: String, into staged: StagedVersion
    ) throws(Failure) -> ReusedRender? {
        for place in entry.record.places {
            // A version moves from staging to its place, so it is looked for in that order.
            for folder in folders(of: place) {
                if let content = donor(in: folder, entry.key), content.recipe != nil,
                    try take(content, from: folder, as: stem, into: staged)
                {
                    return ReusedRender(
                        content, as: stem,
                        from: place.staged?.holder == staged.holder
                            ? nil : "\(place.asset)@\(place.version)")
                }
            }
        }
        try files.faults?.reach("update", path(ofRender: entry.key.hex))
        try entry.update { $0.begin(staged.holder) }
        return nil
    }

    /// Lets others have the render of a version that is sealed in staging, and the entry.
    func offer(
        _ entry: RenderFile, _ version: Provenance, of asset: AssetPath, in staged: StagedVersion
    ) throws(Failure) {
        try files.faults?.reach("update", path(ofRender: entry.key.hex))
        try entry.update { record in
            record.holder = nil
            record.add(RenderRecord.Place(version, of: asset, in: staged))
        }
        entry.letGo()
    }

    /// The same for a render that was taken over, unless somebody has the entry: then the version it came from, or
    /// theirs, is enough.
    func offer(
        _ key: RenderKey, _ version: Provenance, of asset: AssetPath, in staged: StagedVersion
    ) throws(Failure) {
        guard case .held(let entry) = try claim(key, for: staged) else { return }
        try offer(entry, version, of: asset, in: staged)
    }

    func path(ofRender key: String) -> FilePath {
        renders.appending(String(key.prefix(2))).appending(String(key.dropFirst(2)))
    }

    var renders: FilePath { root.appending("renders") }

    func folders(of place: RenderRecord.Place) -> [FilePath] {
        guard let staged = place.staged, let name = VersionName(place.version) else { return [] }
        return [
            staging.folder(of: staged),
            self.place(name, on: place.isDraft ? .drafts : .versions, of: place.asset),
        ]
    }

    /// What a version shows, if it is as it was sealed and has the render of a key.
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
            return nil  // gone or damaged: it is rendered
        }
    }

    /// Links render, movie and previews, and compares what is there then with the digests.
    ///
    /// - Returns: false when something is wrong with them; nothing of what was tried is left then.
    /// - Throws: when what was linked cannot be removed again: a render would be written into the other version's.
    private func take(
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
                    throw Failure(.ioFailure, "\(path) is not what was recorded.")
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
    /// The same under another name with the same extension.
    package func renamed(_ stem: String) -> Content.Image {
        Content.Image(
            name: stem + (FilePath(name).extension.map { "." + $0 } ?? ""), mediaType: mediaType,
            size: size, bytes: bytes, sha256: sha256)
    }
}

extension StagedVersion {
    /// The job, whichever of its holds it is.
    package var holder: String { "\(queue)/\(job)" }
}
