package import Edits
import Files
import FoundationEssentials
package import SystemPackage

extension Provenance {
    /// Decodes a provenance and validates all its names, because they become paths.
    ///
    /// - Parameter path: the name of the file in messages.
    /// - Throws: `laterFormat` if a later release wrote it; `damagedVersion` if it is not a valid provenance, or
    ///   names something that cannot be in a version's folder.
    package init(reading bytes: some Sequence<UInt8>, at path: FilePath) throws(Failure) {
        let bytes = Data(bytes)
        do {
            self = try JSONDecoder().decode(Self.self, from: bytes)
        } catch {
            // A provenance of a later release may not decode.
            try Self.checkVersion(Self.version(of: bytes), path)
            throw Failure(
                .damagedVersion,
                "\(path) is no provenance: \(error). Restore it from a backup.")
        }
        try Self.checkVersion(formatVersion, path)
        if let sentence = misnomer {
            throw Failure(
                .damagedVersion, "\(path) \(sentence). Restore it from a backup.")
        }
    }

    private struct Head: Decodable {
        let formatVersion: Int?
    }

    private static func version(of bytes: Data) -> Int? {
        do {
            return try JSONDecoder().decode(Head.self, from: bytes).formatVersion
        } catch {
            return nil  // damaged: it has no version
        }
    }

    private static func checkVersion(_ version: Int?, _ path: FilePath) throws(Failure) {
        guard let version, version > formatVersionWritten else { return }
        throw Failure(
            .laterFormat,
            "\(path) has the format version \(version); this Minilab reads up to "
                + "\(formatVersionWritten). A later release wrote it: upgrade this one.")
    }

    /// The first invalid name, as the predicate of a sentence; nil if all names are valid.
    var misnomer: String? {
        let versions = [version] + [parent, draft].compactMap(\.self)
        for name in versions where VersionName(name) == nil {
            return "names the version \(name.debugDescription), which is not the name of one"
        }
        // Walks along parents end only if each parent is older.
        if let own = VersionName(version), let above = parent.flatMap(VersionName.init),
            above.revision >= own.revision
        {
            return "names the parent \(above), which is not older than \(own)"
        }
        return content?.misnomer
    }
}

extension Content {
    fileprivate var misnomer: String? {
        let files =
            [(render.name, String?.none), (adjustment.sidecar, nil)]
            + (pairedVideo.map { [($0.name, nil)] } ?? [])
            + [base?.name, base?.pairedVideo?.name].compactMap { $0.map { ($0, Self.baseFolder) } }
            + previews.map { ($0.image.name, Self.previewsFolder) }
        for image in [render] + [pairedVideo, base?.pairedVideo].compactMap(\.self)
            + previews.map(\.image)
        where !(0...Self.imageBytesMax).contains(image.bytes) {
            return "says that \(image.name.debugDescription) has \(image.bytes) bytes"
        }
        for (name, folder) in files where !Self.isName(name, in: folder) {
            return "names the file \(name.debugDescription); expected is one plain name"
                + (folder.map { " in \($0)/" } ?? "")
        }
        return nil
    }

    /// The most bytes of a picture, more than any disk can hold for one.
    private static let imageBytesMax = 1 << 50

    /// - Parameter folder: a folder in the version's folder; nil: the version's folder itself.
    private static func isName(_ name: String, in folder: String?) -> Bool {
        // Bytes, as in the file system: for Swift a slash with a combining mark is not a slash.
        var bytes = name.utf8[...]
        if let folder {
            guard bytes.starts(with: (folder + "/").utf8) else { return false }
            bytes = bytes.dropFirst(folder.utf8.count + 1)
        }
        return (1...FileSystem.nameBytesMax).contains(bytes.count)
            && !bytes.contains(UInt8(ascii: "/")) && !bytes.contains(0)
            && !bytes.elementsEqual(".".utf8) && !bytes.elementsEqual("..".utf8)
            && !bytes.elementsEqual(Provenance.fileName.utf8)
    }
}
