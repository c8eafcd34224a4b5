import Edits
import BlobStore
import FoundationEssentials
import Library

/// A version whose files are in the bucket, ready to be published.
struct SealedVersion: Sendable, Equatable {
    /// Its name.
    let name: VersionName
    /// Its provenance.
    let provenance: Provenance
    /// The provenance, byte for byte.
    let text: [UInt8]
    /// The files that belong to other versions.
    let links: VersionLinks
    /// The key of the asset's original.
    let original: String
    /// The file that readers will see.
    let render: AssetHead.Render?

    init(
        _ provenance: Provenance, _ text: [UInt8], _ links: VersionLinks, of asset: AssetPath,
        _ keys: LibraryKeys
    ) throws(Failure) {
        guard let name = VersionName(provenance.version) else {
            throw Failure(
                .damagedVersion,
                "\(provenance.version.debugDescription) is no name of a version of \(asset).")
        }
        self.name = name
        self.provenance = provenance
        self.text = text
        self.links = links
        original = try keys.original(of: asset).text
        guard let image = provenance.content?.render else {
            render = nil
            return
        }
        let target = links.resolve(image.name, of: name)
        render = AssetHead.Render(
            key: try keys.file(target.file, of: target.version, asset).text, sha256: image.sha256,
            bytes: image.bytes, mediaType: image.mediaType)
    }

    /// The provenance, if it is short enough to be embedded in the head.
    var embedded: String? {
        text.count <= AssetHead.embeddedBytesMax ? String(decoding: text, as: UTF8.self) : nil
    }
}
