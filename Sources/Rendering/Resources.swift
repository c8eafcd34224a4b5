import Edits
import Files

/// The files that edits name by the digest of their content: colour tables, masks, watermarks.
///
/// They arrive with a request, opened by the worker. The code that uses a file determines its format.
struct Resources: Sendable {
    /// The files by digest, `"sha256:…"`.
    let files: [String: OpenFile]

    /// The longest resource in bytes: a table of 128³ entries as text has about 60 MB.
    static let bytesMax = 128 << 20

    /// No resources.
    static let none = Resources(files: [:])

    /// Returns a resource's file.
    ///
    /// The content is verified against the digest, so that a wrong file never changes a photo.
    ///
    /// - Throws: `missingResource`, or `badResource` if the content differs or is too long.
    func file(_ digest: String) throws(Failure) -> OpenFile {
        guard let file = files[digest] else {
            throw Failure(
                .missingResource,
                "The edit names the file \(digest), and the folder of resources has no such file. Put it there, named "
                    + "by its digest, and give the folder to the worker with --resources.")
        }
        let length = try file.length()
        guard length <= Self.bytesMax else {
            throw Failure(
                .badResource,
                "\(digest) has \(length) bytes; a resource has at most \(Self.bytesMax).")
        }
        let content = try FileDigest.sha256(of: file)
        guard "sha256:" + content.hex == digest else {
            throw Failure(
                .badResource,
                "The file of \(digest) has content that does not match its name: \(content.hex).")
        }
        return file
    }

    /// Returns a resource's bytes.
    ///
    /// - Throws: as ``file(_:)``, and `badResource` if it has more than `bytesMax` bytes.
    @Sendable func bytes(_ digest: String, bytesMax: Int) throws(Failure) -> [UInt8] {
        let file = try file(digest)
        let length = try file.length()
        guard length <= bytesMax else {
            throw Failure(
                .badResource,
                "\(digest) has \(length) bytes; at most \(bytesMax) are read for this filter.")
        }
        let bytes = file.bytes(from: 0, count: length)
        guard bytes.count == length else {
            throw Failure(
                .badResource, "\(digest) ended after \(bytes.count) of \(length) bytes.")
        }
        return bytes
    }
}
