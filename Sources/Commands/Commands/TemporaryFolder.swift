import Edits
import FoundationEssentials
import Glibc
import SystemPackage

/// A folder that its owner removes.
package struct TemporaryFolder {
    package let path: String

    /// Creates a folder beside `file`, which need not exist.
    package init(beside file: String) throws {
        let folder = FilePath(file).absolute.removingLastComponent()
        var template = Array(folder.appending(".minilab-XXXXXX").string.utf8CString)
        guard mkdtemp(&template) != nil else {
            throw Failure(
                .ioFailure,
                "nothing can be written to \(folder): \(String(cString: strerror(errno))).")
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Moves a file of the folder to its destination atomically.
    ///
    /// - Throws: `ioFailure`.
    func release(_ file: String, to output: String) throws(Failure) {
        guard rename(file, output) == 0 else {
            throw Failure(
                .ioFailure, "\(output) cannot be written: \(String(cString: strerror(errno))).")
        }
    }

    package func remove() {
        // If removal fails, a hidden, harmless folder is left. The result counts.
        try? FileManager.default.removeItem(atPath: path)
    }
}
