import Adjustments
import FileBytes
import Glibc

/// The folder of files that edits name by the digest of their content: tables of colours, masks,
/// watermarks.
///
/// The file of `"sha256:2c26b4…"` is called `2c26b4…` (64 hexadecimal digits), without an extension. What
/// is in it is found out by whoever uses it.
struct Resources: Sendable {
    /// Absolute path, or nil when the worker was given none.
    let folder: String?

    /// Longest resource in bytes: a table of 128³ entries as text has about 60 MB.
    static let bytesMax = 128 << 20

    /// The path of a resource's file.
    ///
    /// The content is compared with the digest, so that a wrong file never changes a photo.
    ///
    /// - Throws: `missingResource`, or `badResource` when the content is another or too long.
    func path(of digest: String) throws(Failure) -> String {
        guard let folder else {
            throw Failure(
                .missingResource,
                "The edit names the file \(digest), and there is no folder of resources. Start the "
                    + "worker with --resources.")
        }
        let path = folder + "/" + digest.dropFirst("sha256:".count)
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw Failure(
                .missingResource,
                "There is no file \(path), which the edit names by its digest. Put it there.")
        }
        guard status.st_size <= Self.bytesMax else {
            throw Failure(
                .badResource,
                "\(path) has \(status.st_size) bytes; a resource has at most \(Self.bytesMax).")
        }
        let content = try FileDigest.sha256(of: path)
        guard "sha256:" + content.hex == digest else {
            throw Failure(
                .badResource, "\(path) has other content than its name says: \(content.hex).")
        }
        return path
    }
}
