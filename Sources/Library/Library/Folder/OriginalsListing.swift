import Edits
import Files
import Glibc
import SystemPackage

/// A listing of the files below a folder of originals, in the byte order of their paths.
///
/// It holds in memory only the names of the folders on its path. Links to folders are not followed: targets within
/// the originals are visited at their own paths.
struct OriginalsListing: Sendable {
    private let root: FilePath
    private let files: FileSystem
    /// The entries still to be visited, the next one last.
    private var open: [Entry]

    /// A file, or a folder whose entries are not read yet.
    private struct Entry: Sendable {
        let path: String
        let isFolder: Bool
        /// Whether its actual name is not valid text.
        var isUnnamed = false
        /// The sort key: the bytes of the path, with a slash after a folder as in its files' paths.
        var order: [UInt8] { Array((isFolder ? path + "/" : path).utf8) }
    }

    /// The prefix of the names of files that are being copied here.
    static let copyPrefix = ".minilab-copy-"

    init(_ root: FilePath, _ files: FileSystem) {
        (self.root, self.files) = (root, files)
        open = [Entry(path: "", isFolder: true)]
    }

    /// Returns the next files, or nil if there are no more.
    mutating func next(atMost count: Int) throws(Failure) -> OriginalsPage? {
        var page = OriginalsPage()
        while page.assets.count + page.refused.count < count, let entry = open.popLast() {
            if entry.isUnnamed {
                page.refused.append(
                    OriginalsPage.Refused(
                        name: entry.path,
                        failure: Failure(
                            .invalidValue,
                            "the name of \(entry.path.debugDescription) is not UTF-8, as names of assets are. Give it "
                                + "another one.")))
                continue
            }
            guard entry.isFolder else {
                page.add(entry.path)
                continue
            }
            var found: [Entry] = []
            for name in try files.list(root.pushing(FilePath(entry.path)))
            where !name.hasPrefix(Self.copyPrefix) && !FileSystem.isSilly(name) {
                let path = entry.path.isEmpty ? name : entry.path + "/" + name
                if let entry = try self.entry(at: path) { found.append(entry) }
            }
            open += found.sorted { $1.order.lexicographicallyPrecedes($0.order) }
        }
        return page == OriginalsPage() ? nil : page
    }

    /// Returns the entry at a path. A link to a file counts as a file. Pipes and devices are ignored.
    private func entry(at path: String) throws(Failure) -> Entry? {
        let location = root.pushing(FilePath(path))
        var info = stat()
        guard lstat(location.string, &info) == 0 else {
            if errno == ENOENT {
                // Listing replaces bytes that are not valid text by U+FFFD.
                let isUnnamed = path.unicodeScalars.contains("\u{FFFD}")
                return isUnnamed ? Entry(path: path, isFolder: false, isUnnamed: true) : nil
            }
            throw FileSystem.failure("reading the status of", location)
        }
        switch info.st_mode & S_IFMT {
        case S_IFDIR: return Entry(path: path, isFolder: true)
        case S_IFREG: return Entry(path: path, isFolder: false)
        case S_IFLNK:
            let isFolder = stat(location.string, &info) == 0 && info.st_mode & S_IFMT == S_IFDIR
            return isFolder ? nil : Entry(path: path, isFolder: false)
        default: return nil
        }
    }
}
