public import Adjustments
import Files

/// A file of an asset, as PhotoKit's resources name them.
public struct Layer: Sendable, Equatable, Encodable {
    /// Which layer it is.
    public let kind: Kind
    /// Its absolute path, or its URL.
    public let path: String
    /// Its length; nil when the file is not there.
    public let bytes: Int?
    /// SHA-256 in hex: as recorded, or of the bytes where nothing is recorded; nil when there are none.
    public let sha256: String?

    /// The layers of an asset.
    public enum Kind: String, Sendable, Encodable {
        /// As it came in.
        case original
        /// What the edit was made on, when that is not the original.
        case base
        /// The edit.
        case adjustmentData
        /// What readers of the version see.
        case render
        /// The movie of a Live Photo beside the original, the base and the render.
        case pairedVideo, basePairedVideo, renderPairedVideo
        /// A small picture of it.
        case preview
        /// What the draft would show.
        case draft
    }
}

extension LibraryStore {
    /// The files of a version, the original first.
    ///
    /// - Parameters:
    ///   - version: nil for the original alone.
    ///   - draft: the draft of the asset.
    /// - Throws: `ioFailure`; a file that is missing is no error.
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
        let found = try await look(at: file)
        var sha256 = recorded
        if recorded == nil, found.bytes != nil {
            let file = try await open(file)
            sha256 = try await offPool { () throws(Failure) in try FileDigest.sha256(of: file).hex }
        }
        return Layer(kind: kind, path: found.place, bytes: found.bytes, sha256: sha256)
    }
}
