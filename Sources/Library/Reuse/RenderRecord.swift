package import Adjustments
package import FoundationEssentials

/// The record of a render's key: which versions have the render.
package struct RenderRecord: Sendable, Codable, Equatable {
    /// The version of the file's format; nil is 1, which did not say so at first.
    private var formatVersion: Int? = Self.formatVersionWritten
    /// The job that renders it now, `queue/job`, or whose worker died at it.
    var holder: String?
    /// Versions that have it, the newest first.
    package private(set) var places: [Place] = []

    /// The version of the format that is written.
    static let formatVersionWritten = 1
    /// Most versions that are remembered: one may be discarded or collected while the next is still there.
    static let placesMax = 4
    /// Most bytes of the file: so many assets of the longest names, all of them escaped.
    package static let bytesMax = 64 << 10

    /// A version that has a render.
    package struct Place: Sendable, Codable, Hashable {
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

        /// Where it is before it is published; nil when its name is none.
        var staged: StagedVersion? {
            VersionName(version).map {
                StagedVersion(queue: queue, job: job, fence: $0.fence)
            }
        }
    }

    /// Remembers another place, and forgets the oldest when there are too many.
    package mutating func add(_ place: Place) {
        places = Array(([place] + places.filter { $0 != place }).prefix(Self.placesMax))
    }

    /// What bytes say; nothing when they are damaged: then the photo is rendered and they are written anew.
    ///
    /// - Throws: `laterFormat` when a later release wrote them: they are its own to change.
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

    /// Notes that our own job makes the render.
    mutating func begin(_ holder: String) {
        self.holder = holder
        places = []
    }

    package func encoded() throws(Failure) -> Data {
        do {
            return try JSONEncoder().encode(self)
        } catch {
            throw Failure(.internalError, "the record of a render does not encode: \(error)")
        }
    }
}

extension RenderRecord.Place {
    /// The place of a version that a job made.
    package init(_ version: Provenance, of asset: AssetPath, in staged: StagedVersion) {
        self.init(
            asset: asset, version: version.version, isDraft: version.isDraft, queue: staged.queue,
            job: staged.job)
    }
}
