public import Edits
import BlobStore
import Files
import FoundationEssentials
public import Library
import SystemPackage

/// References to files of a staged version that are already in the bucket: a small note in the staged folder
/// records the location of each.
extension BucketLibrary {
    /// The folder of the notes.
    private static let folderName = ".links"
    /// The most bytes of a note: the longest asset and file, escaped.
    private static let noteBytesMax = 16 << 10

    /// A reference to a file in the bucket.
    struct Note: Sendable, Codable, Equatable {
        /// Its asset.
        let asset: AssetPath
        /// The version that owns the file.
        let version: String
        /// The path of the file in that version.
        let file: String
        /// The tag of the referenced content; nil if any content is valid, since versions do not change.
        var tag: String?
    }

    /// Copies the bytes of an original to the staged version. For a file of a version it writes only a note.
    public func link(
        _ file: StoredFile, as name: String, into staged: StagedVersion
    ) async throws(Failure) {
        switch file {
        case .original:
            let source = try await open(file)
            try await offPool { () throws(Failure) in
                _ = try self.staging.copy(source, as: name, into: staged, bytesMax: .max)
            }
        case .layer(let asset, let version, _, let path):
            let target = try await links(of: version, asset).resolve(path, of: version)
            let note = Note(asset: asset, version: target.version.description, file: target.file)
            try await offPool { () throws(Failure) in
                try self.write(note, as: name, into: staged)
            }
        }
    }

    /// Records the location of a staged version's file.
    func write(
        _ note: Note, as name: String, into staged: StagedVersion
    ) throws(Failure) {
        let path = staging.folder(of: staged).appending(Self.folderName).pushing(FilePath(name))
        let bytes: Data
        do {
            bytes = try JSONEncoder().encode(note)
        } catch {
            throw Failure(.internalError, "the note of a link does not encode: \(error)")
        }
        try staging.files.makeFolder(path.removingLastComponent())
        try staging.files.remove(path)
        try staging.files.write(bytes, to: path)
    }

    /// Removes the note of a file.
    func unlink(_ name: String, of staged: StagedVersion) throws(Failure) {
        try staging.files.remove(
            staging.folder(of: staged).appending(Self.folderName).pushing(FilePath(name)))
    }

    /// Returns the note of a file; nil if the staged folder has its bytes.
    func note(of name: String, _ staged: StagedVersion) throws(Failure) -> Note? {
        let folder = staging.folder(of: staged).appending(Self.folderName)
        guard try staging.files.exists(folder.pushing(FilePath(name))) else { return nil }
        let bytes = try staging.files.read(name, in: folder, bytesMax: Self.noteBytesMax)
        do {
            return try JSONDecoder().decode(Note.self, from: Data(bytes))
        } catch {
            throw Failure(
                .ioFailure,
                "the note of \(name) in \(folder) is damaged: \(error). The job is retried.")
        }
    }
}
