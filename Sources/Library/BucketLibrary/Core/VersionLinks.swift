import BlobStore
import Edits
import FoundationEssentials
import Library

/// The files of a version that belong to another version of the same asset: its `links.json`.
///
/// Each link names an existing object: a link to a link is resolved when it is created. Links never leave an asset,
/// so one head decides which objects may be removed.
struct VersionLinks: Sendable, Equatable {
    /// The targets by the file's path in the version.
    private(set) var targets: [String: Target] = [:]

    /// A file of another version of the same asset.
    struct Target: Sendable, Hashable {
        /// The version that owns the file.
        let version: VersionName
        /// The path of the file in that version.
        let file: String
    }

    /// The most bytes of the object: a few files with the longest names, escaped.
    static let fileBytesMax = 64 << 10
    /// The format version that is written. Later ones are refused.
    private static let formatWritten = 1

    init() {}

    mutating func add(_ file: String, to target: Target) { targets[file] = target }

    /// The versions to whose files it links, in the order of their names.
    var versions: [String] { Set(targets.values.map(\.version.description)).sorted() }

    var isEmpty: Bool { targets.isEmpty }

    /// Returns the object of a file of `version`.
    func resolve(_ file: String, of version: VersionName) -> Target {
        targets[file] ?? Target(version: version, file: file)
    }
}

extension VersionLinks {
    private struct Document: Codable {
        let format: Int
        /// The target `<version>/<file>` of each file.
        let files: [String: String]
    }

    private struct Head: Decodable { let format: Int }

    /// Decodes an object.
    ///
    /// - Parameter location: the name of the object in messages.
    /// - Throws: `laterFormat`, `damagedVersion`.
    init(reading bytes: [UInt8], at location: String) throws(Failure) {
        do {
            let format = try JSONDecoder().decode(Head.self, from: Data(bytes)).format
            guard format <= Self.formatWritten else {
                throw Failure(
                    .laterFormat,
                    "\(location) has the format \(format); this Minilab reads up to \(Self.formatWritten). A later "
                        + "release wrote it: upgrade this one.")
            }
            for (file, text) in try JSONDecoder().decode(Document.self, from: Data(bytes)).files {
                targets[file] = try Self.target(text, location)
            }
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(
                .damagedVersion,
                "\(location) is no list of links: \(error). Restore it from a backup."
            )
        }
    }

    private static func target(_ text: String, _ location: String) throws(Failure) -> Target {
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
        return Target(version: version, file: parts[1])
    }

    /// Encodes the object.
    func encoded() throws(Failure) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            let files = targets.mapValues { "\($0.version)/\($0.file)" }
            return Array(try encoder.encode(Document(format: Self.formatWritten, files: files)))
        } catch {
            throw Failure(.internalError, "the links of a version do not encode: \(error)")
        }
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
