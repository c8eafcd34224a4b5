import BlobStore
import Edits
import FoundationEssentials
import Library

/// The files of a version that belong to another version of the same asset: its `links.json`.
///
/// Each link names an existing object: a link to a link is resolved when it is created. Links never leave an asset,
/// so one head decides which objects may be removed.
struct VersionLinks: Sendable, Equatable {
    private(set) var targets: [String: VersionFile] = [:]

    /// The most bytes of the object: a few files with the longest names, escaped.
    static let fileBytesMax = 64 << 10
    /// The format version that is written. Later ones are refused.
    private static let formatWritten = 1

    init() {}

    mutating func add(_ file: String, to target: VersionFile) { targets[file] = target }

    /// The versions to whose files it links, in the order of their names.
    var versions: [String] { Set(targets.values.map(\.version.description)).sorted() }

    var isEmpty: Bool { targets.isEmpty }

    func resolve(_ file: String, of version: VersionName) -> VersionFile {
        targets[file] ?? VersionFile(file, of: version)
    }
}

extension VersionLinks {
    private struct Document: Codable {
        let format: Int
        /// The target `<version>/<file>` of each file.
        let files: [String: String]
    }

    /// Decodes an object.
    ///
    /// - Parameter location: the name of the object in messages.
    /// - Throws: `laterFormat`, `damagedVersion`.
    init(reading bytes: [UInt8], at location: String) throws(Failure) {
        let document: Document
        do {
            document = try JSONDecoder().decode(Document.self, from: Data(bytes))
        } catch {
            try LibraryDocument.checkFormat(of: bytes, upTo: Self.formatWritten, at: location)
            throw Failure(
                .damagedVersion,
                "\(location) is no list of links: \(error.decodingReason). Restore it from a backup."
            )
        }
        try LibraryDocument.checkFormat(document.format, upTo: Self.formatWritten, at: location)
        for (file, text) in document.files { targets[file] = try Self.target(text, location) }
    }

    private static func target(_ text: String, _ location: String) throws(Failure) -> VersionFile {
        let parts = text.utf8.split(
            separator: UInt8(ascii: "/"), maxSplits: 1, omittingEmptySubsequences: false
        ).map { String(decoding: $0, as: UTF8.self) }
        guard parts.count == 2, let version = VersionName(parts[0]),
            !parts[1].utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
                .contains(where: { $0.isEmpty || $0.elementsEqual("..".utf8) })
        else {
            throw Failure(
                .damagedVersion,
                "\(location) links to \(text.debugDescription); expected is a version and a file of it. Restore it from "
                    + "a backup.")
        }
        return VersionFile(parts[1], of: version)
    }

    func encoded() throws(Failure) -> [UInt8] {
        try LibraryDocument.encoded(
            Document(
                format: Self.formatWritten,
                files: targets.mapValues { "\($0.version)/\($0.file)" }), "the links of a version")
    }
}

/// A version whose files are in the bucket, ready to be published.
struct SealedVersion: Sendable, Equatable {
    let name: VersionName
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
