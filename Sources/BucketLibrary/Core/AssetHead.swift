import Adjustments
import FoundationEssentials
import Library

/// All that changes of an asset, in one object: `current/<asset>`.
///
/// A commit replaces it if nobody else has since it was read. So the head decides: a version that no head names is not
/// there for readers, and what a head names may not be removed.
struct AssetHead: Sendable, Codable, Equatable {
    /// The version of the object's format.
    private(set) var format = Self.formatWritten
    /// Grows with each write, so that no two bodies of an asset are the same and no tag comes back.
    private(set) var serial = 0
    /// The version that readers see; nil when they see the original.
    private(set) var current: String?
    /// The key of the original, for readers without our code.
    private(set) var original: String?
    /// The file that readers see; nil when that is the original.
    private(set) var render: Render?
    /// The provenance of the current version, byte for byte; nil when it is too long.
    private(set) var provenance: String?
    /// The version that is prepared and not published.
    private(set) var draft: Entry?
    /// Its provenance; nil when it is too long.
    private(set) var draftProvenance: String?
    /// The published versions, the current one first, at most ``historyMax``; older ones are found by their `parent`.
    private(set) var history: [Entry] = []
    /// Versions with a smaller revision were collected.
    private(set) var floor = 1
    /// Versions whose objects are removed after a grace, and that nothing may link to any more.
    private(set) var trash: [Trash] = []
    /// The latest edit that found the current version to be what it asks for.
    private(set) var confirmed: Confirmation?
    /// The job that has published last.
    private(set) var writer: Writer?

    /// The file that readers see.
    struct Render: Sendable, Codable, Equatable {
        /// Its object's key.
        let key: String
        /// SHA-256 in hex.
        let sha256: String
        /// Its length.
        let bytes: Int
        /// Its IANA media type.
        let mediaType: String
    }

    /// A version, as far as decisions need it.
    struct Entry: Sendable, Codable, Equatable {
        /// Its name.
        let version: String
        /// The version that it was made from.
        let parent: String?
        /// The kind of edit.
        let mode: Edit.Name
        /// When, RFC 3339, by the worker's clock.
        let at: String
        /// ``RenderKey`` in hex of what it shows.
        let renderKey: String?
        /// The versions whose files it names.
        let links: [String]

        init(_ version: Provenance, _ links: VersionLinks) {
            self.version = version.version
            parent = version.parent
            mode = version.mode
            at = version.author.at
            renderKey = version.content?.rendering?.key
            self.links = links.versions
        }
    }

    /// A version that goes.
    struct Trash: Sendable, Codable, Equatable {
        /// Its name.
        let version: String
        /// Since when, in seconds since 1970.
        let at: Int
    }

    /// When an edit arrived that found a version to be what it asks for.
    struct Confirmation: Sendable, Codable, Equatable {
        /// The version.
        let version: String
        /// In µs since 1970.
        let arrival: Int
    }

    /// A job that has published.
    struct Writer: Sendable, Codable, Equatable {
        /// The job.
        let job: String
        /// The fence of its hold.
        let fence: String
    }

    /// The version of the format that is written; later ones are refused.
    static let formatWritten = 1
    /// Most versions that a head lists.
    static let historyMax = 200
    /// Most versions that wait for their removal.
    static let trashMax = 1_000
    /// Longest provenance that is embedded.
    static let embeddedBytesMax = 64 << 10

    /// A change of a head. Each body is another one.
    func changed(_ change: (inout AssetHead) -> Void) -> AssetHead {
        var next = self
        change(&next)
        next.serial += 1
        return next
    }
}

// The parts that decisions set.
extension AssetHead {
    mutating func setCurrent(_ version: SealedVersion) {
        current = version.provenance.version
        provenance = version.embedded
        original = version.original
        render = version.render
        confirmed = nil
        history = Array(
            ([Entry(version.provenance, version.links)] + history).prefix(Self.historyMax))
        writer = Writer(job: version.provenance.author.job, fence: version.name.fence)
    }

    mutating func setDraft(_ version: SealedVersion?) {
        draft = version.map { Entry($0.provenance, $0.links) }
        draftProvenance = version?.embedded
        guard let version else { return }
        writer = Writer(job: version.provenance.author.job, fence: version.name.fence)
    }

    mutating func setConfirmed(_ confirmation: Confirmation) { confirmed = confirmation }

    /// Lists the versions behind the one that is going to be current.
    mutating func setOlder(_ entries: [Entry]) { history = entries }

    /// Keeps the newest versions of the history.
    mutating func keep(_ count: Int, floor: Int) {
        history = Array(history.prefix(count))
        self.floor = max(self.floor, floor)
    }

    mutating func discard(_ versions: [String], at seconds: Int) {
        let known = Set(trash.map(\.version))
        trash += versions.filter { !known.contains($0) }.map { Trash(version: $0, at: seconds) }
    }

    mutating func forget(_ removed: Set<String>) {
        trash.removeAll { removed.contains($0.version) }
    }
}

extension AssetHead {
    /// The versions whose files are named by what is kept in the list.
    var linked: Set<String> { Set(history.flatMap(\.links) + (draft?.links ?? [])) }

    /// Whether a version is on its way out.
    func isTrash(_ version: String) -> Bool { trash.contains { $0.version == version } }

    /// The published version or draft of that name, if it is in the list.
    func entry(_ version: String) -> Entry? {
        draft?.version == version ? draft : history.first { $0.version == version }
    }

    /// The version behind the list: kept, but to be found by the provenance of the one ahead.
    var older: VersionName? {
        guard history.count == Self.historyMax,
            let name = history.last?.parent.flatMap(VersionName.init),
            name.revision >= floor
        else { return nil }
        return name
    }
}
