package import BlobStore
import Edits
import FoundationEssentials
import Library

/// The names of a library's objects, below the store's prefix:
///
/// ```
/// library.json                                    the library's identity
/// originals/<path>                                never written; may be in another bucket
/// current/<asset>                                 the head: pointer, draft, history, trash
/// edits/queue-<queue>                             what a queue has to find again if its Redis has lost it
/// dead/<queue>/<month>/<time>-<random>.ndjson     dead jobs that its Redis does not keep
/// edits/<asset>/versions/<rev>-<fence>/<file>     a version or draft: render, .AAE, base/, previews/
///     …/provenance.json                           written last
///     …/links.json                                the files that belong to another version of the same asset
/// sizes/<asset>/<rev>-<fence>/<name>-<8 of key>.<ext>   a rendition of that version
///     …/list.json                                 what each is; the list changes
/// segments/<two digits>/<the other 62>/<number>   a part of a movie that is being rendered
/// renders/<two digits>/<the other 62>             the versions that have the render of a key; if workers share them
/// ```
///
/// A head has no suffix, because a path component may have 255 bytes, and an asset's may use them all. The files of
/// a version are one or two components below its name, the second only in `base` or `previews`. So its keys cannot
/// be confused with those of an asset whose path continues below another asset's.
struct LibraryKeys: Sendable {
    /// The prefix of an original's path; empty, or with a slash at its end.
    let originalsPrefix: String
    /// The length of the prefix that the store adds to every key.
    let prefixBytes: Int

    static let libraryFile = "library.json"
    static let linksFile = "links.json"
    /// An object that belongs to no asset. Probes write it to test the store.
    static let probeFile = "edits/probe"
    /// The notes of queues, which belong to no asset either: `edits/queue-<name>`.
    private static let notePrefix = "edits/queue-"
    private static let versionsName = "versions"
    static let headPrefix = "current/"
    static let versionsFolder = "edits/"
    static let sizesFolder = "sizes/"
    static let deadPrefix = DeadLetterFile.folder + "/"
    static let rendersPrefix = "renders/"
    static let moviePartsPrefix = "segments/"

    func library() throws(Failure) -> BlobKey { try key(Self.libraryFile) }

    func note(of queue: String) throws(Failure) -> BlobKey { try key(Self.notePrefix + queue) }

    /// Returns the prefix of a queue's dead jobs of a month.
    static func deadLetters(of queue: String, at time: Date) -> String {
        "\(deadPrefix)\(queue)/\(DeadLetterFile.month(time))/"
    }

    /// Returns the key of an addition of dead jobs.
    ///
    /// - Parameter name: the prefix of their month, and a name.
    func deadLetters(_ name: String) throws(Failure) -> BlobKey {
        try key(name + DeadLetterFile.ending)
    }

    /// Returns the queue of an addition of dead jobs; nil if its key tells none.
    static func queue(ofDeadLetters key: BlobKey) -> String? {
        // `<queue>/<month>/<name>`
        let parts = key.text.split(separator: "/").suffix(3)
        return parts.count == 3 ? parts.first.map(String.init) : nil
    }

    /// Returns the time in the name of an addition of dead jobs; nil if it is an object of another program.
    static func stamp(ofDeadLetters key: BlobKey) -> String? {
        let name = key.text.split(separator: "/").last ?? ""
        let parts = name.split(separator: "-")
        return name.hasSuffix(DeadLetterFile.ending) && parts.count == 2 ? String(parts[0]) : nil
    }

    func head(of asset: AssetPath) throws(Failure) -> BlobKey {
        try key(Self.headPrefix + asset.string)
    }

    /// Returns the key of an asset's original, in the store of originals.
    func original(of asset: AssetPath) throws(Failure) -> BlobKey {
        try key(originalsPrefix + asset.string)
    }

    /// Returns the key of a file of a version or draft.
    ///
    /// - Parameter file: its path in the version.
    func file(
        _ file: String, of version: VersionName, _ asset: AssetPath
    ) throws(Failure) -> BlobKey {
        try key(versionsPrefix(of: asset) + "\(version)/\(file)")
    }

    /// Returns the prefix of all keys of an asset's versions. Keys of other assets may have the same prefix.
    func versionsPrefix(of asset: AssetPath) -> String {
        "\(Self.versionsFolder)\(asset)/\(Self.versionsName)/"
    }

    /// Returns the key of a rendition of a version, or of their list.
    func size(
        _ file: String, of version: VersionName, _ asset: AssetPath
    ) throws(Failure) -> BlobKey {
        try key(sizesPrefix(of: asset) + "\(version)/\(file)")
    }

    /// Returns the prefix of all keys of the renditions of an asset. Keys of other assets may have the same prefix.
    func sizesPrefix(of asset: AssetPath) -> String { "\(Self.sizesFolder)\(asset)/" }

    /// Returns the version and the file that a key names; nil if it is not a key of this asset's renditions.
    func sizeVersion(of key: BlobKey, _ asset: AssetPath) -> (name: VersionName, file: String)? {
        let prefix = sizesPrefix(of: asset)
        guard key.text.utf8.starts(with: prefix.utf8) else { return nil }
        let rest = String(decoding: key.text.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
        let parts = rest.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard parts.count == 2, let name = VersionName(parts[0]) else { return nil }
        return (name, parts[1])
    }

    func render(_ render: RenderKey) throws(Failure) -> BlobKey {
        try key(Self.rendersPrefix + render.path)
    }

    /// Returns the key of a part of a movie that is being rendered.
    func moviePart(_ name: MoviePartName) throws(Failure) -> BlobKey {
        try key(moviePartsPrefix(of: name.render) + String(name.number))
    }

    func moviePartsPrefix(of render: RenderKey) -> String {
        "\(Self.moviePartsPrefix)\(render.path)/"
    }

    func asset(ofHead key: BlobKey) -> AssetPath? {
        let text = key.text.utf8
        guard text.starts(with: Self.headPrefix.utf8) else { return nil }
        return asset(String(decoding: text.dropFirst(Self.headPrefix.utf8.count), as: UTF8.self))
    }

    private func asset(_ name: String) -> AssetPath? {
        do throws(Failure) {
            return try AssetPath(name)
        } catch {
            return nil  // an object of another program
        }
    }

    /// Returns the asset of a version's file; nil if the key is not that of such a file.
    func asset(ofVersion key: BlobKey) -> AssetPath? {
        let text = key.text
        guard text.utf8.starts(with: Self.versionsFolder.utf8) else { return nil }
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        // The path of an asset may also have a folder "versions", so the last one counts.
        guard
            let index = parts.indices.dropFirst(2).dropLast(2).last(where: {
                parts[$0] == Self.versionsName && VersionName(parts[$0 + 1]) != nil
            })
        else { return nil }
        return asset(parts[1..<index].joined(separator: "/")).flatMap { asset in
            version(of: key, asset) == nil ? nil : asset
        }
    }

    /// Returns a key after all keys of an asset's versions: the name of a version begins with a digit.
    func end(ofVersionsOf asset: AssetPath) throws(Failure) -> BlobKey {
        try key(versionsPrefix(of: asset) + "~")
    }

    /// Returns the version and the file that a key names; nil if it is not a key of this asset's versions.
    func version(of key: BlobKey, _ asset: AssetPath) -> (name: VersionName, file: String)? {
        let prefix = versionsPrefix(of: asset)
        guard key.text.utf8.starts(with: prefix.utf8) else { return nil }
        let rest = String(decoding: key.text.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
        let parts = rest.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard parts.count == 2 || parts.count == 3, let name = VersionName(parts[0]) else {
            return nil
        }
        if parts.count == 3, parts[1] != Content.baseFolder, parts[1] != Content.previewsFolder {
            return nil
        }
        return (name, parts.dropFirst().joined(separator: "/"))
    }

    /// Refuses an asset whose longest key would exceed the limit.
    ///
    /// - Throws: `invalidValue`.
    func check(_ asset: AssetPath) throws(Failure) {
        let longest = max(
            Self.endingBytesMax + Content.baseFolder.utf8.count + 1 + asset.stem.utf8.count,
            Provenance.fileName.utf8.count)
        let bytes =
            prefixBytes + versionsPrefix(of: asset).utf8.count + VersionName.bytesMax + 1 + longest
        guard bytes > BlobKey.bytesMax else { return }
        throw Failure(
            .invalidValue,
            "the asset \(asset.string.debugDescription) cannot be edited: an object of its versions would have a name "
                + "of \(bytes) bytes, and a bucket keeps at most \(BlobKey.bytesMax). Shorten the asset's path or the "
                + "library's prefix.")
    }

    /// The longest ending of a render's name, including the dot.
    private static let endingBytesMax = 6

    private func key(_ text: String) throws(Failure) -> BlobKey {
        do throws(BlobError) {
            return try BlobKey(text)
        } catch {
            throw Failure(.invalidValue, error.message)
        }
    }
}

/// The effect of a bucket's lifecycle rules on the library in it.
package struct LifecycleAdvice: Sendable, Equatable {
    /// Whether the rules delete photos or versions.
    package let isHarm: Bool
    /// The problem and its remedy.
    package let sentence: String

    /// The recommended maximum number of days for which incomplete multipart uploads and replaced objects are kept.
    private static let uploadDays = 1
    private static let noncurrentDays = 7

    /// Returns the problems with the rules of the bucket with heads and versions.
    ///
    /// - Parameters:
    ///   - prefix: the prefix of the library's keys; empty, or with a slash at its end.
    ///   - keepsVersions: whether the bucket keeps replaced objects; nil if that could not be determined.
    ///   - hasOriginals: whether the bucket also contains the originals.
    package static func advice(
        _ lifecycle: BucketLifecycle, prefix: String, keepsVersions: Bool?, hasOriginals: Bool
    ) -> [LifecycleAdvice] {
        let parts =
            [
                LibraryKeys.libraryFile, LibraryKeys.headPrefix, "edits/", LibraryKeys.sizesFolder,
                LibraryKeys.deadPrefix,
            ]
            + (hasOriginals ? ["originals/"] : [])
        var advice = harms(lifecycle, prefixes: parts.map { prefix + $0 })
        if !lifecycle.rules.contains(where: { $0.abortsUploads && $0.covers(prefix + "edits/") }) {
            advice.append(
                LifecycleAdvice(
                    isHarm: false,
                    sentence:
                        "no rule removes uploads that were cut off, which cost as much as objects. Add one: "
                        + "AbortIncompleteMultipartUpload after \(uploadDays) day."))
        }
        let isEnding = [LibraryKeys.headPrefix, "edits/"].allSatisfy { part in
            lifecycle.rules.contains { $0.expiresNoncurrent && $0.covers(prefix + part) }
        }
        if keepsVersions == true, !isEnding {
            advice.append(
                LifecycleAdvice(
                    isHarm: false,
                    sentence:
                        "the bucket keeps replaced and removed objects forever: each edit replaces a head, and gc "
                        + "frees nothing. Add a rule: NoncurrentVersionExpiration after \(noncurrentDays) days."
                ))
        }
        return advice
    }

    /// Returns the problems with the rules of a bucket that contains only originals.
    package static func advice(
        _ lifecycle: BucketLifecycle, originals prefix: String
    ) -> [LifecycleAdvice] {
        harms(lifecycle, prefixes: [prefix])
    }

    /// Returns the advice for rules that could not be read. Workers do not need to read them, many keys lack the
    /// right, and some stores have no rules.
    package static func unseen(_ error: BlobError) -> LifecycleAdvice {
        LifecycleAdvice(
            isHarm: false,
            sentence: "the bucket's rules could not be read; check them by hand. \(error.message)"
        )
    }

    private static func harms(
        _ lifecycle: BucketLifecycle, prefixes: [String]
    ) -> [LifecycleAdvice] {
        lifecycle.rules.compactMap { rule in
            guard rule.expires || rule.archive != nil else { return nil }
            let hit = prefixes.filter(rule.touches)
            guard !hit.isEmpty else { return nil }
            let prefixes = hit.map { $0.isEmpty ? "the whole bucket" : $0 }.joined(separator: ", ")
            let harm =
                rule.expires
                ? "lets objects expire below \(prefixes): photos and their versions get lost"
                : "moves objects below \(prefixes) to \(rule.archive ?? ""), from where they cannot be read immediately"
            return LifecycleAdvice(
                isHarm: true,
                sentence:
                    "the rule \(rule.name.debugDescription) \(harm). Switch it off, or give it the prefix of "
                    + "something else.")
        }
    }
}
