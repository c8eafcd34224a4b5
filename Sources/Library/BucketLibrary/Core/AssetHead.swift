import Edits
import FoundationEssentials
import Library

/// The mutable state of an asset, in one object: `current/<asset>`.
///
/// A commit replaces it if it is unchanged since it was read. So the head is authoritative: a version that no head
/// names does not exist for readers, and a version that a head names must not be removed.
struct AssetHead: Sendable, Codable, Equatable {
    /// The version of the object's format.
    private(set) var format = Self.formatWritten
    /// A number that grows with each write, so that no two bodies of an asset are the same and no tag recurs.
    private(set) var serial = 0
    /// The version that readers see; nil if they see the original.
    private(set) var current: String?
    /// The key of the original, for readers without Minilab's code.
    private(set) var original: String?
    /// The file that readers see; nil if that is the original.
    private(set) var render: Render?
    /// The provenance of the current version, byte for byte; nil if it is too long.
    private(set) var provenance: String?
    /// The draft: a version that is prepared and not published.
    private(set) var draft: Entry?
    /// The provenance of the draft; nil if it is too long.
    private(set) var draftProvenance: String?
    /// The published versions, the current one first, at most ``historyMax``. Older ones are found by their
    /// `parent`.
    private(set) var history: [Entry] = []
    /// Versions with a smaller revision were collected.
    private(set) var floor = 1
    /// The versions whose objects are removed after a grace period. No version may link to them any more.
    private(set) var trash: [Trash] = []
    /// The latest edit that found the current version unchanged by it.
    var confirmed: Confirmation?
    /// The job that has published last.
    private(set) var writer: Writer?

    /// The file that readers see.
    struct Render: Sendable, Codable, Equatable {
        let key: String
        /// The SHA-256 in hex.
        let sha256: String
        let bytes: Int
        let mediaType: String
    }

    /// The properties of a version that decisions need.
    struct Entry: Sendable, Codable, Equatable {
        let version: String
        /// The version from which it was made.
        let parent: String?
        let mode: Edit.Name
        /// The time of its creation, RFC 3339, by the worker's clock.
        let at: String
        /// The ``RenderKey`` of its content, in hex.
        let renderKey: String?
        /// The versions to whose files it links.
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

    struct Trash: Sendable, Codable, Equatable {
        let version: String
        /// The time since when it is in the trash, in seconds since 1970.
        let at: Int
    }

    /// The arrival of an edit that found a version unchanged by it.
    struct Confirmation: Sendable, Codable, Equatable {
        let version: String
        /// The arrival, in µs since 1970.
        let arrival: Int
    }

    /// A job that has published.
    struct Writer: Sendable, Codable, Equatable {
        let job: String
        let fence: String
    }

    /// The format version that is written. Later ones are refused.
    static let formatWritten = 1
    /// The most versions that a head lists.
    static let historyMax = 200
    /// The most versions in the trash.
    static let trashMax = 1_000
    /// The longest provenance that is embedded.
    static let embeddedBytesMax = 64 << 10

    /// Returns a changed head. Each change yields a different body.
    func changed(_ change: (inout AssetHead) -> Void) -> AssetHead {
        var next = self
        change(&next)
        next.serial += 1
        return next
    }
}

// Setters for the parts that decisions change.
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

    /// Keeps the newest versions of the history.
    mutating func keep(_ count: Int, floor: Int) {
        history = Array(history.prefix(count))
        self.floor = max(self.floor, floor)
    }

    mutating func moveToTrash(_ versions: [String], at seconds: Int) {
        let known = Set(trash.map(\.version))
        trash += versions.filter { !known.contains($0) }.map { Trash(version: $0, at: seconds) }
    }

    mutating func removeFromTrash(_ removed: Set<String>) {
        trash.removeAll { removed.contains($0.version) }
    }

    /// The versions to whose files the kept versions of the list link.
    var linked: Set<String> { Set(history.flatMap(\.links) + (draft?.links ?? [])) }

    /// Returns whether a version is being removed.
    func isTrash(_ version: String) -> Bool { trash.contains { $0.version == version } }

    /// Returns the published version or draft of that name if it is in the list.
    func entry(_ version: String) -> Entry? {
        draft?.version == version ? draft : history.first { $0.version == version }
    }

    /// The first version beyond the list: kept, but found only by the provenance of the version after it.
    var older: VersionName? {
        guard history.count == Self.historyMax,
            let name = history.last?.parent.flatMap(VersionName.init),
            name.revision >= floor
        else { return nil }
        return name
    }

    /// Returns whether a version may be kept beyond the list.
    func mayHave(older name: VersionName) -> Bool {
        older.map { name.revision >= floor && name.revision <= $0.revision } ?? false
    }

    /// The most bytes of the object: two embedded provenances, fully escaped, and the longest lists.
    static let bytesMax = 1 << 20

    /// The largest number: every JSON parser preserves it, and adding 1 to it cannot overflow.
    private static let numberMax = 1 << 53

    /// Decodes an object.
    ///
    /// - Parameter location: the name of the object in messages.
    /// - Throws: `laterFormat` if a later release wrote it; `damagedVersion` if it is not a valid head.
    init(reading bytes: [UInt8], at location: String) throws(Failure) {
        do {
            self = try JSONDecoder().decode(Self.self, from: Data(bytes))
        } catch {
            try LibraryDocument.checkFormat(of: bytes, upTo: Self.formatWritten, at: location)
            throw Failure(
                .damagedVersion,
                "\(location) is no head of an asset: \(error.decodingReason). Restore it from a backup."
            )
        }
        try LibraryDocument.checkFormat(format, upTo: Self.formatWritten, at: location)
        if let sentence = mistake {
            throw Failure(.damagedVersion, "\(location) \(sentence) Restore it from a backup.")
        }
    }

    /// The first invalid name or number, as the predicate of a sentence: names become keys.
    private var mistake: String? {
        let names =
            history.flatMap { [$0.version] + [$0.parent].compactMap(\.self) + $0.links }
            + (draft.map { [$0.version] + $0.links } ?? []) + trash.map(\.version)
        if let wrong = names.first(where: { VersionName($0) == nil }) {
            return "names the version \(wrong.debugDescription), which is no name of one."
        }
        let numbers = [serial, floor, confirmed?.arrival ?? 0] + trash.map(\.at)
        if let wrong = numbers.first(where: { !(0...Self.numberMax).contains($0) }) {
            return "has the number \(wrong), which it cannot have."
        }
        guard current == history.first?.version else {
            return "says that \(current ?? "no version") is current, but its history begins with "
                + "\(history.first?.version ?? "none")."
        }
        return nil
    }

    func encoded() throws(Failure) -> [UInt8] {
        let bytes = try LibraryDocument.encoded(self, "the head of an asset")
        guard bytes.count <= Self.bytesMax else {
            throw Failure(
                .exceedsLimit,
                "the head of an asset would have \(bytes.count) bytes; at most \(Self.bytesMax) are read. Collect its "
                    + "versions (minilab gc).")
        }
        return bytes
    }

    /// The versions of an asset from another library.
    struct CopiedVersions: Sendable {
        /// The published versions, the current one first, at most ``historyMax``.
        let entries: [Entry]
        /// The revision of the oldest kept version.
        let floor: Int
        /// The current version; nil if readers see the original.
        let current: SealedVersion?
        let draft: SealedVersion?
    }

    /// Returns the head with the versions of another library instead of its own.
    ///
    /// - Throws: `revisionConflict` if one of them is being removed from this library.
    func copying(
        _ copied: CopiedVersions, of asset: AssetPath, now: Int
    ) throws(Failure) -> AssetHead {
        let entries =
            copied.entries + [copied.draft].compactMap { $0.map { Entry($0.provenance, $0.links) } }
        let names = entries.flatMap { [$0.version] + $0.links }
        if let name = names.first(where: isTrash) {
            throw Failure(
                .revisionConflict,
                "minilab gc removes the version \(name) of \(asset) at the copy: copy again when it has been "
                    + "removed, after "
                    + "\(Self.readerGrace / 3600) hours and another gc.")
        }
        return changed { head in
            let before = head.draft?.version
            if let current = copied.current, head.current != current.provenance.version {
                head.keep(0, floor: copied.floor)
                head.history = Array(copied.entries.dropFirst())
                head.setCurrent(current)
            }
            guard before != copied.draft?.provenance.version else { return }
            head.setDraft(copied.draft)
            head.moveDraftToTrash(before, at: now)
        }
    }
}

/// A name that is compared by its bytes, as a bucket does. In Swift `ü` and `u` with a combining mark are equal.
struct ExactName: Hashable, Sendable {
    private let bytes: [UInt8]

    init(_ name: String) { bytes = Array(name.utf8) }

    init(_ asset: AssetPath) { self.init(asset.string) }
}
