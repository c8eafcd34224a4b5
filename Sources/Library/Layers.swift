public import Adjustments
import Files
import SystemPackage

/// A file of an asset, as PhotoKit's resources name them.
public struct Layer: Sendable, Equatable, Encodable {
    /// Which layer it is.
    public let kind: Kind
    /// Its absolute path.
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
        /// A small picture of it.
        case preview
        /// What the draft would show.
        case draft
    }
}

extension Library {
    /// The files of a version, the original first.
    ///
    /// - Parameters:
    ///   - version: nil for the original alone.
    ///   - draft: the draft of the asset.
    /// - Throws: `ioFailure`; a file that is missing is no error.
    public func layers(
        of version: Provenance?, draft: Provenance?, _ asset: AssetPath
    ) throws(Failure) -> [Layer] {
        let content = version?.content
        let original = originals.pushing(FilePath(asset.string))
        var layers = [try layer(.original, original, content?.source.sha256)]
        if let version, let content {
            let folder = folder(of: version, asset)
            if let base = content.base {
                layers.append(
                    try layer(.base, folder.pushing(FilePath(base.name)), base.input.sha256))
            }
            layers.append(
                try layer(
                    .adjustmentData, folder.appending(content.adjustment.sidecar),
                    content.adjustment.sidecarSHA256))
            layers.append(
                try layer(.render, folder.appending(content.render.name), content.render.sha256))
            for preview in content.previews {
                layers.append(
                    try layer(
                        .preview, folder.pushing(FilePath(preview.image.name)), preview.image.sha256
                    ))
            }
        }
        if let draft, draft != version, let render = draft.content?.render {
            layers.append(
                try layer(.draft, folder(of: draft, asset).appending(render.name), render.sha256))
        }
        return layers
    }

    private func layer(
        _ kind: Layer.Kind, _ path: FilePath, _ recorded: String?
    ) throws(Failure) -> Layer {
        guard try files.exists(path) else {
            return Layer(kind: kind, path: path.string, bytes: nil, sha256: recorded)
        }
        if let recorded {
            return Layer(
                kind: kind, path: path.string, bytes: try files.length(of: path), sha256: recorded)
        }
        let found = try digest(of: path)
        return Layer(kind: kind, path: path.string, bytes: found.bytes, sha256: found.hex)
    }
}
