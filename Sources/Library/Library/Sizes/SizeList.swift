public import Edits
import Files
import FoundationEssentials
import SystemPackage

/// The renditions of a version, by name: `list.json` beside their files.
///
/// A version is never changed, and its renditions are beside it: they can be made later, replaced, and removed. Each
/// file that a list names is complete.
public struct SizeList: Sendable, Equatable {
    public var renditions: [String: StoredRendition]
    /// Records of those without a file: retention has removed it, or it was missing when they were to be shown again. They can be
    /// made again from what was asked for.
    public var gone: [String: StoredRendition]

    public init(
        _ renditions: [String: StoredRendition] = [:], gone: [String: StoredRendition] = [:]
    ) {
        (self.renditions, self.gone) = (renditions, gone)
    }

    public var isEmpty: Bool { renditions.isEmpty && gone.isEmpty }

    /// The names, in the order of lists and events.
    public var names: [String] { renditions.keys.sorted() }

    /// The list after its files were removed.
    package var withoutFiles: SizeList {
        SizeList(gone: gone.merging(renditions) { _, last in last })
    }

    /// The folder of renditions, in that of an asset, in a staged version, and as a link in a version.
    package static let folder = "sizes"
    /// Returns the path of a rendition's file in a staged version.
    package static func stagedName(_ file: String) -> String { folder + "/" + file }
    /// The name of the list in a folder of renditions.
    package static let fileName = "list.json"
    /// The most renditions of a version: those of four jobs with other names. A reader's page and an event stay small.
    public static let countMax = 64
    /// The most bytes of a list: each rendition is a part of an edit (``ContractLimits/editBytesMax``).
    package static let bytesMax = countMax * 2 * ContractLimits.editBytesMax
}

/// A rendition of a version that the library has.
public struct StoredRendition: Sendable, Equatable {
    /// The ``RenditionKey`` in hex, which determines every byte.
    public let key: String
    /// The ``Rendition`` that was asked for, with placeholders filled in.
    public let spec: JSONValue
    /// Its file, beside the list.
    public package(set) var file: String
    public let made: MadeFile
    /// As in ``RenditionResult``.
    public let quality: Double?
    public let encodes: Int
    public let hash: [String: String]?
    /// The job that made it.
    public let job: String
    /// The arrival of that job, in µs since 1970; nil if no queue sent it, which counts as older than any.
    public let arrival: Int?
    public let origin: RenderOrigin
    /// The time, RFC 3339, as in `Provenance.Author`.
    public let at: String

    /// Creates the record of a rendition that is named as in a folder.
    ///
    /// - Parameters:
    ///   - name: its name in the list.
    ///   - rendition: what was asked for.
    ///   - result: what the renderer reports of it.
    public init(
        _ name: String, _ rendition: Rendition, key: RenditionKey, made: MadeFile,
        _ result: RenditionResult, by author: Provenance.Author,
        of origin: RenderOrigin
    ) {
        self.key = key.hex
        spec = rendition.spec
        file = rendition.fileName(name)
        self.made = made
        (quality, encodes, hash) = (result.quality, result.encodes, result.hash)
        (job, arrival, at) = (author.job, author.arrival, author.at)
        self.origin = origin
    }

    /// Returns whether another record is of the same bytes of the same key.
    package func isSame(as other: StoredRendition) -> Bool {
        key == other.key && made == other.made
    }

    /// Its path in a staged version.
    package var stagedName: String { SizeList.stagedName(file) }

    /// Refuses bytes that differ from the record.
    ///
    /// - Throws: `damagedVersion`.
    package func check(_ found: StoredDigest, _ location: String) throws(Failure) {
        guard found.sha256 != made.sha256 || found.bytes != made.bytes else { return }
        throw Failure(
            .damagedVersion,
            "the \(found.bytes) bytes of \(location) are not those that were recorded: SHA-256 \(found.sha256), expected "
                + "\(made.sha256). Have the rendition made again.")
    }
}

extension StoredRendition: Codable {
    private enum CodingKeys: String, CodingKey {
        case key, spec, file, quality, encodes, hash, job, arrival, engine, render, libraries, at
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        key = try fields.decode(String.self, forKey: .key)
        spec = try fields.decode(JSONValue.self, forKey: .spec)
        file = try fields.decode(String.self, forKey: .file)
        made = try MadeFile(from: decoder)
        quality = try fields.decodeIfPresent(Double.self, forKey: .quality)
        encodes = try fields.decode(Int.self, forKey: .encodes)
        hash = try fields.decodeIfPresent([String: String].self, forKey: .hash)
        job = try fields.decode(String.self, forKey: .job)
        arrival = try fields.decodeIfPresent(Int.self, forKey: .arrival)
        origin = RenderOrigin(
            engine: try fields.decode(String.self, forKey: .engine),
            render: try fields.decodeIfPresent(Int.self, forKey: .render),
            libraries: try fields.decodeIfPresent([String: String].self, forKey: .libraries))
        at = try fields.decode(String.self, forKey: .at)
    }

    public func encode(to encoder: any Encoder) throws {
        try made.encode(to: encoder)
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(key, forKey: .key)
        try fields.encode(spec, forKey: .spec)
        try fields.encode(file, forKey: .file)
        try fields.encodeIfPresent(quality, forKey: .quality)
        try fields.encode(encodes, forKey: .encodes)
        try fields.encodeIfPresent(hash, forKey: .hash)
        try fields.encode(job, forKey: .job)
        try fields.encodeIfPresent(arrival, forKey: .arrival)
        try fields.encode(origin.engine, forKey: .engine)
        try fields.encodeIfPresent(origin.render, forKey: .render)
        try fields.encodeIfPresent(origin.libraries, forKey: .libraries)
        try fields.encode(at, forKey: .at)
    }
}

extension SizeList {
    private struct Document: Codable {
        let formatVersion: Int
        let renditions: [String: StoredRendition]
        /// nil if there are none, and of a release that did not keep them.
        let gone: [String: StoredRendition]?
    }

    /// The latest format version. Later ones are refused.
    private static let formatKnown = 2
    /// The format version that this list needs: 2 if a file has the fence of the job that made it once more, which earlier releases take
    /// for damage.
    private var format: Int {
        renditions.contains { $0.value.isNamedByFence(of: $0.key) }
            || gone.contains { $0.value.isNamedByFence(of: $0.key) } ? Self.formatKnown : 1
    }

    /// Decodes a list and validates its names, because they become paths.
    ///
    /// - Parameter location: the name of the file in messages.
    /// - Throws: `laterFormat`; `damagedVersion`.
    package init(reading bytes: [UInt8], at location: String) throws(Failure) {
        let document: Document
        do {
            document = try JSONDecoder().decode(Document.self, from: Data(bytes))
        } catch {
            try LibraryDocument.checkFormat(of: bytes, upTo: Self.formatKnown, at: location)
            throw Failure(
                .damagedVersion,
                "\(location) is no list of renditions: \(error.decodingReason). Remove it and have them made again."
            )
        }
        try LibraryDocument.checkFormat(
            document.formatVersion, upTo: Self.formatKnown, at: location)
        let gone = document.gone ?? [:]
        let count = document.renditions.count + gone.count
        guard count <= Self.countMax else {
            throw Failure(
                .damagedVersion,
                "\(location) names \(count) renditions; at most \(Self.countMax) are kept. Remove it and have "
                    + "them made again.")
        }
        for (name, rendition) in Array(document.renditions) + Array(gone)
        where !Renditions.isName(name) || !rendition.isFile(of: name) {
            throw Failure(
                .damagedVersion,
                "\(location) names \(name.debugDescription) with the file \(rendition.file.debugDescription), which "
                    + "cannot be a rendition. Remove it and have them made again.")
        }
        self.init(
            document.renditions, gone: gone.filter { document.renditions[$0.key] == nil })
    }

    package func encoded() throws(Failure) -> [UInt8] {
        try LibraryDocument.encoded(
            Document(
                formatVersion: format, renditions: renditions,
                gone: gone.isEmpty ? nil : gone),
            "the list of renditions", [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes])
    }
}

extension StoredRendition {
    /// Whether the file has a name that a store gives: `<name>.<ext>`, `<name>-<8 digits>.<ext>` or `<name>-<8 digits>-<fence>.<ext>`.
    fileprivate func isFile(of name: String) -> Bool {
        let parts = file.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let format = Recipe.Format(fileExtension: String(parts[1])),
            made.mediaType == format.mediaType, made.bytes >= 0, key.utf8.count == 64,
            key.utf8.allSatisfy({
                UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0
                    || UInt8(ascii: "a")...UInt8(ascii: "f") ~= $0
            })
        else { return false }
        return parts[0] == name || parts[0] == "\(name)-\(key.prefix(Self.keyDigits))"
            || isNamedByFence(of: name)
    }

    /// Whether the file has the fence of the job that made it once more.
    fileprivate func isNamedByFence(of name: String) -> Bool {
        let start = "\(name)-\(key.prefix(Self.keyDigits))-"
        guard file.hasPrefix(start) else { return false }
        let fence = file.dropFirst(start.count).prefix { $0 != "." }
        return (1...Self.fenceDigitsMax).contains(fence.utf8.count)
            && fence.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
    }

    /// The most digits of a fence: a time in µs.
    private static let fenceDigitsMax = 20

    /// The digits of a key in the names of objects, which are never replaced.
    private static let keyDigits = 8

    /// Returns the record with a file that has a part of the key in its name.
    ///
    /// - Parameter fence: that of the hold that makes it once more. An object of the plain name is there already, and a collection that
    ///   has listed it may remove it at any time from now on.
    package func namedByKey(_ name: String, again fence: String? = nil) -> StoredRendition {
        var rendition = self
        let ending = file.split(separator: ".").last.map { "." + $0 } ?? ""
        let again = fence.map { "-" + $0 } ?? ""
        rendition.file = "\(name)-\(key.prefix(Self.keyDigits))\(again)\(ending)"
        return rendition
    }

    /// Returns the record with the name of a file that is there.
    package func named(_ file: String) -> StoredRendition {
        var rendition = self
        rendition.file = file
        return rendition
    }

    /// Returns the record with the name of a file in a folder.
    package func namedPlainly(_ name: String) -> StoredRendition {
        var rendition = self
        let ending = file.split(separator: ".").last.map { "." + $0 } ?? ""
        rendition.file = name + ending
        return rendition
    }
}

extension SizeList {
    /// Returns a list that new renditions replace if it is damaged: all can be made again.
    ///
    /// - Throws: what reading it throws, but `damagedVersion`.
    package static func replaceable(
        _ read: () throws(Failure) -> SizeList
    ) throws(Failure) -> SizeList {
        do throws(Failure) { return try read() } catch {
            guard error.code == .damagedVersion else { throw error }
            return SizeList()
        }
    }
}

extension LibraryReader {
    /// Returns whether a rendition has a file of the recorded length.
    package func isWhole(
        _ rendition: StoredRendition, of version: VersionName, _ asset: AssetPath
    ) async throws(Failure) -> Bool {
        try await info(of: .rendition(asset, version: version, file: rendition.file)).bytes
            == rendition.made.bytes
    }

    /// Returns the renditions of a version; none if their list is damaged, because all can be made again.
    package func replaceableSizes(
        of version: VersionName, _ asset: AssetPath
    ) async throws(Failure) -> SizeList {
        do throws(Failure) { return try await sizes(of: version, asset) } catch {
            guard error.code == .damagedVersion else { throw error }
            return SizeList()
        }
    }
}

/// The effect of new renditions on the list of a version. Stores read the list and carry the change out.
package struct SizeChange: Sendable, Equatable {
    /// The list afterwards.
    package private(set) var list: SizeList
    /// The names whose files are written.
    package private(set) var added: [String] = []
    /// Those of them whose file of the same name has other bytes, which no list may name while it is replaced.
    package private(set) var overwritten: [String] = []

    /// Decides which renditions are added: of two with one name, the one of the job that arrived last.
    ///
    /// - Throws: `exceedsLimit`.
    package init(
        _ list: SizeList, adding new: [String: StoredRendition]
    ) throws(Failure) {
        self.list = list
        for (name, rendition) in new.sorted(by: { $0.key < $1.key }) {
            let known = list.renditions[name]
            if let known, !known.isSame(as: rendition),
                known.arrival ?? 0 > rendition.arrival ?? 0
            {
                continue
            }
            added.append(name)
            if let known, known.file == rendition.file, !known.isSame(as: rendition) {
                overwritten.append(name)
            }
            self.list.renditions[name] = rendition
            self.list.gone[name] = nil
        }
        guard self.list.renditions.count <= SizeList.countMax else {
            throw Failure(
                .exceedsLimit,
                "the version would have \(self.list.renditions.count) renditions; at most \(SizeList.countMax) are "
                    + "kept. Make them under the names that are there.")
        }
        // Renditions that are there precede those that can be made again.
        let room = SizeList.countMax - self.list.renditions.count
        let dropped = Set(self.list.gone.keys.sorted().dropFirst(room))
        self.list.gone = self.list.gone.filter { !dropped.contains($0.key) }
    }

    /// The list while files are replaced; nil if none is.
    package func listMeanwhile(_ before: SizeList) -> SizeList? {
        guard !overwritten.isEmpty else { return nil }
        return SizeList(
            before.renditions.filter { !overwritten.contains($0.key) }, gone: before.gone)
    }
}

/// The key that determines every byte of a rendition: two renditions with one key are the same.
///
/// It is made of the key of a render with the same filters, because the output of the render does not affect its
/// renditions, and of the rendition with placeholders filled in, which names resources by their digests.
public struct RenditionKey: Sendable, Hashable {
    /// The SHA-256, in hex.
    public let hex: String

    /// Creates a key.
    ///
    /// - Parameters:
    ///   - photo: the SHA-256 of the bytes of the file that it is rendered from, in hex.
    ///   - filters: the filters, scaled to the photo. Automatic values follow from the photo.
    ///   - rendition: the rendition, with placeholders filled in.
    ///   - render: the number of the renderer's pixels and bytes.
    ///   - owner: the owner of the render, as for ``RenderKey``.
    public init(
        photo: String, filters: Recipe, rendition: Rendition, render: Int, owner: Owner
    ) {
        let render = RenderKey(photo: photo, recipe: filters, render: render, owner: owner)
        hex = JSONValue.object(["render": .string(render.hex), "rendition": rendition.spec]).digest
    }
}

extension Rendition {
    /// The fields that determine its bytes and its record; `required` does not.
    package var spec: JSONValue {
        var rendition = self
        rendition.isRequired = true
        return rendition.json
    }

    /// The name of its file in a folder.
    package func fileName(_ name: String) -> String {
        name + "." + (output.format ?? .jpeg).fileExtension
    }
}

extension VersionWriter {
    /// The most times that a list is read again because another job has changed it.
    private static var linkRoundsMax: Int { 4 }

    /// Adds the renditions of another version to a staged version. Those without a whole file stay in the list as gone.
    ///
    /// - Parameter fits: whether one is added.
    /// - Returns: the list to seal.
    public func link(
        sizesOf version: VersionName, _ asset: AssetPath, into staged: StagedVersion,
        where fits: (String, StoredRendition) -> Bool = { _, _ in true }
    ) async throws(Failure) -> SizeList {
        var list = try await replaceableSizes(of: version, asset)
        for _ in 0..<Self.linkRoundsMax {
            var linked = SizeList(gone: list.gone.filter { fits($0.key, $0.value) })
            for name in list.names {
                guard let rendition = list.renditions[name], fits(name, rendition) else { continue }
                guard try await isWhole(rendition, of: version, asset) else {
                    linked.gone[name] = rendition
                    continue
                }
                let file = StoredFile.rendition(asset, version: version, file: rendition.file)
                let plain = rendition.namedPlainly(name)
                try await remove(plain, of: staged)
                try await link(file, as: plain.stagedName, into: staged)
                linked.renditions[name] = plain
            }
            // A file that was replaced before it was linked is not the one of the list.
            let now = try await replaceableSizes(of: version, asset)
            if now == list { return linked }
            list = now
        }
        return SizeList(gone: list.withoutFiles.gone.filter { fits($0.key, $0.value) })
    }

    private func remove(
        _ rendition: StoredRendition, of staged: StagedVersion
    ) async throws(Failure) {
        try await offPool { () throws(Failure) in
            try staging.files.remove(
                staging.folder(of: staged).pushing(FilePath(rendition.stagedName)))
        }
    }
}
