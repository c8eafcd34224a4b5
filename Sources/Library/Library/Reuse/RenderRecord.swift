package import Edits
package import FoundationEssentials

/// The record of a render's key: the versions that have the render.
package struct RenderRecord: Sendable, Codable, Equatable {
    /// The version of the file's format; nil means 1, which at first had no such field.
    private var formatVersion: Int? = Self.formatVersionWritten
    /// The job that is rendering it, as `queue/job`, or whose worker died while rendering it.
    var holder: String?
    /// The versions that have the render, the newest first.
    package private(set) var sources: [Source] = []

    private enum CodingKeys: String, CodingKey {
        case formatVersion, holder
        case sources = "places"
    }

    /// The format version that is written.
    static let formatVersionWritten = 1
    /// The most versions in a record. More than one, because a version may be discarded or collected while the next
    /// still exists.
    static let sourcesMax = 4
    /// The most bytes of the file: that many assets with the longest names, fully escaped.
    package static let bytesMax = 64 << 10

    /// A version that has a render.
    package struct Source: Sendable, Codable, Hashable {
        /// Its asset.
        package let asset: AssetPath
        /// Its name.
        package let version: String
        /// Whether it is a draft.
        let isDraft: Bool
        /// The queue in whose staging it was made.
        let queue: String
        /// The job that made it.
        let job: String

        /// Its staged version before it is published; nil if its name is invalid.
        var staged: StagedVersion? {
            VersionName(version).map {
                StagedVersion(queue: queue, job: job, fence: $0.fence)
            }
        }
    }

    /// Adds a source, and removes the oldest one if there are too many.
    package mutating func add(_ source: Source) {
        sources = Array(([source] + sources.filter { $0 != source }).prefix(Self.sourcesMax))
    }

    /// Decodes a record. Damaged bytes yield an empty record: the photo is then rendered and the record written
    /// again.
    ///
    /// - Throws: `laterFormat` if a later release wrote the record, which must then not be changed.
    package init(_ bytes: [UInt8]) throws(Failure) {
        do {
            self = try JSONDecoder().decode(Self.self, from: Data(bytes))
        } catch {
            self.init()
            formatVersion = Self.version(of: bytes)
        }
        if let formatVersion, formatVersion > Self.formatVersionWritten {
            throw Failure(
                .laterFormat,
                "the record of a render has the format version \(formatVersion); this Minilab reads up to "
                    + "\(Self.formatVersionWritten). A later release wrote it: upgrade this one.")
        }
        formatVersion = Self.formatVersionWritten
    }

    private struct Head: Decodable {
        let formatVersion: Int?
    }

    private static func version(of bytes: [UInt8]) -> Int? {
        do {
            return try JSONDecoder().decode(Head.self, from: Data(bytes)).formatVersion
        } catch {
            return nil  // damaged: it has no version
        }
    }

    package init() {}

    /// Records that a job makes the render.
    mutating func begin(_ holder: String) {
        self.holder = holder
        sources = []
    }

    package func encoded() throws(Failure) -> Data {
        do {
            return try JSONEncoder().encode(self)
        } catch {
            throw Failure(.internalError, "the record of a render does not encode: \(error)")
        }
    }
}

extension RenderRecord.Source {
    /// Creates the source of a version that a job made.
    package init(_ version: Provenance, of asset: AssetPath, in staged: StagedVersion) {
        self.init(
            asset: asset, version: version.version, isDraft: version.isDraft, queue: staged.queue,
            job: staged.job)
    }
}
