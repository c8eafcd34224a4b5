import Adjustments
import FoundationEssentials
import Library

/// The files of a version that are another version's of the same asset: its `links.json`.
///
/// Each names a real object: a link to a link is resolved when it is made. References never leave an asset, so what may
/// be removed is decided by one head.
struct VersionLinks: Sendable, Equatable {
    /// By the file's path in the version.
    private(set) var targets: [String: Target] = [:]

    /// A file of another version of the same asset.
    struct Target: Sendable, Hashable {
        /// Which version.
        let version: VersionName
        /// Its path there.
        let file: String
    }

    /// Most bytes of the object: a few files with the longest names, escaped.
    static let fileBytesMax = 64 << 10
    /// The version of the format that is written; later ones are refused.
    private static let formatWritten = 1

    init() {}

    /// Links a file.
    mutating func add(_ file: String, to target: Target) { targets[file] = target }

    /// The versions whose files are named, in the order of their names.
    var versions: [String] { Set(targets.values.map(\.version.description)).sorted() }

    var isEmpty: Bool { targets.isEmpty }

    /// The real object of a file of `version`.
    func resolve(_ file: String, of version: VersionName) -> Target {
        targets[file] ?? Target(version: version, file: file)
    }
}

extension VersionLinks {
    private struct Document: Codable {
        let format: Int
        /// `<version>/<file>` by file.
        let files: [String: String]
    }

    private struct Head: Decodable { let format: Int }

    /// Reads an object.
    ///
    /// - Parameter place: what a failure calls it.
    /// - Throws: `laterFormat`, `damagedVersion`.
    init(reading bytes: [UInt8], at place: String) throws(Failure) {
        do {
            let format = try JSONDecoder().decode(Head.self, from: Data(bytes)).format
            guard format <= Self.formatWritten else {
                throw Failure(
                    .laterFormat,
                    "\(place) has the format \(format); this Minilab reads up to \(Self.formatWritten). A later "
                        + "release wrote it: upgrade this one.")
            }
            for (file, text) in try JSONDecoder().decode(Document.self, from: Data(bytes)).files {
                targets[file] = try Self.target(text, place)
            }
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(
                .damagedVersion, "\(place) is no list of links: \(error). Restore it from a backup."
            )
        }
    }

    private static func target(_ text: String, _ place: String) throws(Failure) -> Target {
        let parts = text.utf8.split(
            separator: UInt8(ascii: "/"), maxSplits: 1, omittingEmptySubsequences: false
        ).map { String(decoding: $0, as: UTF8.self) }
        guard parts.count == 2, let version = VersionName(parts[0]),
            !parts[1].utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
                .contains(where: { $0.isEmpty || $0.elementsEqual("..".utf8) })
        else {
            throw Failure(
                .damagedVersion,
                "\(place) links to \(text.debugDescription); expected is a version and a file of it. Restore it from "
                    + "a backup.")
        }
        return Target(version: version, file: parts[1])
    }

    /// As the object has it.
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
