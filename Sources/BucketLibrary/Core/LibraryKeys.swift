import Adjustments
import BlobStore
import Library

/// The names of a library's objects, below the store's prefix:
///
/// ```
/// library.json                                    the format
/// originals/<path>                                never written; may be in another bucket
/// current/<asset>                                 the head: pointer, draft, history, trash
/// edits/<asset>/versions/<rev>-<fence>/<file>     a version or draft: render, .AAE, base/, previews/
///     …/provenance.json                           written last
///     …/links.json                                where files are another version's of the same asset
/// segments/<two digits>/<the other 62>/<number>   a part of a movie in the making
/// renders/<two digits>/<the other 62>             which versions have the render of a key; only where workers share them
/// ```
///
/// A head has no suffix: a component may have 255 bytes, as an asset's may. The files of a version lie one or two
/// components below its name, the second only in `base` or `previews`; so the versions of an asset whose path goes on
/// below another asset's are told apart.
struct LibraryKeys: Sendable {
    /// Before an original's path; empty, or with a slash at its end.
    let originalsPrefix: String
    /// The bytes that the store puts before every key.
    let prefixBytes: Int

    static let libraryFile = "library.json"
    static let linksFile = "links.json"
    /// An object that is nobody's, for questions whether the store writes.
    static let probeFile = "edits/probe"
    private static let versionsName = "versions"
    static let headPrefix = "current/"
    static let versionsFolder = "edits/"
    static let rendersPrefix = "renders/"
    static let segmentsPrefix = "segments/"

    /// The head of an asset.
    func head(of asset: AssetPath) throws(Failure) -> BlobKey {
        try key(Self.headPrefix + asset.string)
    }

    /// An asset's original, in the store of originals.
    func original(of asset: AssetPath) throws(Failure) -> BlobKey {
        try key(originalsPrefix + asset.string)
    }

    /// A file of a version or draft.
    ///
    /// - Parameter file: its path in the version.
    func file(
        _ file: String, of version: VersionName, _ asset: AssetPath
    ) throws(Failure) -> BlobKey {
        try key(versionsPrefix(of: asset) + "\(version)/\(file)")
    }

    /// The beginning of all keys of an asset's versions; those of other assets may begin so too.
    func versionsPrefix(of asset: AssetPath) -> String {
        "\(Self.versionsFolder)\(asset)/\(Self.versionsName)/"
    }

    /// The record of a render's key.
    func render(_ hex: String) throws(Failure) -> BlobKey {
        try key("\(Self.rendersPrefix)\(hex.prefix(2))/\(hex.dropFirst(2))")
    }

    /// A part of a movie in the making.
    func segment(_ name: SegmentName) throws(Failure) -> BlobKey {
        try key(segmentsPrefix(of: name.render) + String(name.number))
    }

    /// The beginning of the keys of a movie's parts.
    func segmentsPrefix(of render: RenderKey) -> String {
        "\(Self.segmentsPrefix)\(render.hex.prefix(2))/\(render.hex.dropFirst(2))/"
    }

    /// The asset of a head; nil when the key is none's.
    func asset(ofHead key: BlobKey) -> AssetPath? {
        guard key.text.utf8.starts(with: Self.headPrefix.utf8) else { return nil }
        do throws(Failure) {
            return try AssetPath(
                String(
                    decoding: key.text.utf8.dropFirst(Self.headPrefix.utf8.count), as: UTF8.self))
        } catch {
            return nil  // somebody else's object
        }
    }

    /// The asset of a version's file; nil when the key is none's.
    func asset(ofVersion key: BlobKey) -> AssetPath? {
        let text = key.text
        guard text.utf8.starts(with: Self.versionsFolder.utf8) else { return nil }
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        // The path of an asset may have a folder "versions", too: the last one counts.
        guard
            let place = parts.indices.dropFirst(2).dropLast(2).last(where: {
                parts[$0] == Self.versionsName && VersionName(parts[$0 + 1]) != nil
            })
        else { return nil }
        do throws(Failure) {
            let asset = try AssetPath(parts[1..<place].joined(separator: "/"))
            return version(of: key, asset) == nil ? nil : asset
        } catch {
            return nil  // somebody else's object
        }
    }

    /// Behind all keys of an asset's versions: a version's name begins with a digit.
    func end(ofVersionsOf asset: AssetPath) throws(Failure) -> BlobKey {
        try key(versionsPrefix(of: asset) + "~")
    }

    /// The version and the file that a key names; nil when it is not of this asset's versions.
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

    /// Refuses an asset whose longest key does not fit.
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

    /// Longest ending of a render's name, with the dot.
    private static let endingBytesMax = 6

    private func key(_ text: String) throws(Failure) -> BlobKey {
        do throws(BlobError) {
            return try BlobKey(text)
        } catch {
            throw Failure(.invalidValue, error.message)
        }
    }
}
