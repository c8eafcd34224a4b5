public import Edits
import Files

/// A file of an asset, named like PhotoKit's resources.
public struct Layer: Sendable, Equatable, Encodable {
    /// The kind of layer.
    public let kind: Kind
    /// Its absolute path, or its URL.
    public let path: String
    /// Its length; nil if the file is missing.
    public let bytes: Int?
    /// The SHA-256 in hex, as recorded, or of the bytes if nothing is recorded; nil if there are none.
    public let sha256: String?

    /// The kinds of layers.
    public enum Kind: String, Sendable, Encodable {
        /// The original photo.
        case original
        /// The input of the edit, if that is not the original.
        case base
        /// The adjustment data: the edit.
        case adjustmentData
        /// The file that readers of the version see.
        case render
        /// The movie of a Live Photo beside the original, the base and the render.
        case pairedVideo, basePairedVideo, renderPairedVideo
        /// A small picture of the render.
        case preview
        /// The render of the draft.
        case draft
    }
}

extension LibraryStore {
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
            sha256 = try await offPool { () throws(Failure) in try FileDigest.sha256(of: file).hex }
        }
        return Layer(kind: kind, path: found.location, bytes: found.bytes, sha256: sha256)
    }
}
