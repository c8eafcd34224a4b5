import Adjustments
import Files
import Glibc
import SystemPackage

/// A walk through the files below a folder of originals, in the byte order of their paths.
///
/// It holds in memory only the names of the folders on its path. Links to folders are not followed: targets within
/// the originals are visited at their own paths.
struct OriginalsWalk: Sendable {
    private let root: FilePath
    private let files: FileSystem
    /// The entries still to be visited, the next one last.
    private var open: [Place]

    /// A file, or a folder whose entries are not read yet.
    private struct Place: Sendable {
        let path: String
        let isFolder: Bool
        /// Whether its actual name is not valid text.
        var isUnnamed = false
        /// The sort key: the bytes of the path, with a slash after a folder as in its files' paths.
        var order: [UInt8] { Array((isFolder ? path + "/" : path).utf8) }
    }

    /// The prefix of the names of files that are being copied here.
    static let partPrefix = ".minilab-copy-"

    init(_ root: FilePath, _ files: FileSystem) {
        (self.root, self.files) = (root, files)
        open = [Place(path: "", isFolder: true)]
    }

    /// Returns the next files, or nil if there are no more.
    mutating func next(atMost count: Int) throws(Failure) -> OriginalsPage? {
        var page = OriginalsPage()
        while page.assets.count + page.refused.count < count, let place = open.popLast() {
            if place.isUnnamed {
                page.refused.append(
                    OriginalsPage.Refused(
                        name: place.path,
                        failure: Failure(
                            .invalidValue,
                            "the name of \(place.path.debugDescription) is not UTF-8, as names of assets are. Give it "
                                + "another one.")))
                continue
            }
            guard place.isFolder else {
                page.add(place.path)
                continue
            }
            var places: [Place] = []
            for name in try files.list(root.pushing(FilePath(place.path)))
            where !name.hasPrefix(Self.partPrefix) && !FileSystem.isSilly(name) {
                let path = place.path.isEmpty ? name : place.path + "/" + name
                if let found = try look(at: path) { places.append(found) }
            }
            open += places.sorted { $1.order.lexicographicallyPrecedes($0.order) }
        }
        return page == OriginalsPage() ? nil : page
    }

    /// Returns the entry at a path. A link to a file counts as a file. Pipes and devices are ignored.
    private func look(at path: String) throws(Failure) -> Place? {
        let place = root.pushing(FilePath(path))
        var info = stat()
        guard lstat(place.string, &info) == 0 else {
            if errno == ENOENT {
                // Listing replaces bytes that are not valid text by U+FFFD.
                let isUnnamed = path.unicodeScalars.contains("\u{FFFD}")
                return isUnnamed ? Place(path: path, isFolder: false, isUnnamed: true) : nil
            }
            throw FileSystem.failure("looking at", place)
        }
        switch info.st_mode & S_IFMT {
        case S_IFDIR: return Place(path: path, isFolder: true)
        case S_IFREG: return Place(path: path, isFolder: false)
        case S_IFLNK:
            let isFolder = stat(place.string, &info) == 0 && info.st_mode & S_IFMT == S_IFDIR
            return isFolder ? nil : Place(path: path, isFolder: false)
        default: return nil
        }
    }
}
