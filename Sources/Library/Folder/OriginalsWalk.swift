import Adjustments
import Files
import Glibc
import SystemPackage

/// A walk through the files below a folder of originals, in the order of their paths' bytes.
///
/// It keeps the names of the folders on its way and no more. Links to folders are not followed: what they lead to within
/// the originals is met at its own place.
struct OriginalsWalk: Sendable {
    private let root: FilePath
    private let files: FileSystem
    /// The places still to be visited, the next last.
    private var open: [Place]

    /// A file, or a folder whose names are not read yet.
    private struct Place: Sendable {
        let path: String
        let isFolder: Bool
        /// Whether its real name is no text.
        var isUnnamed = false
        /// By the bytes, a folder with the slash that its files' paths have.
        var order: [UInt8] { Array((isFolder ? path + "/" : path).utf8) }
    }

    /// The beginning of the names of files that are being copied to here.
    static let partPrefix = ".minilab-copy-"

    init(_ root: FilePath, _ files: FileSystem) {
        (self.root, self.files) = (root, files)
        open = [Place(path: "", isFolder: true)]
    }

    /// The next files, or nil when there are no more.
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

    /// A link counts as what it leads to, if that is a file; pipes and devices are nobody's photo.
    private func look(at path: String) throws(Failure) -> Place? {
        let place = root.pushing(FilePath(path))
        var info = stat()
        guard lstat(place.string, &info) == 0 else {
            if errno == ENOENT {
                // Listing has put U+FFFD where bytes are no text.
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
