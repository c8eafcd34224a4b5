public import Edits
public import Files
import Glibc
import SystemPackage

/// Originals that are received over the network:
///
/// ```
/// <originals>/.minilab-copy-uploads/<random>        an incomplete original, locked by the process that receives it
/// ```
///
/// An original is written there, synced, and moved to its name by one step that never replaces a file. So after a
/// crash it is complete or absent. Files that a crash leaves in the folder are not locked, and are swept.
extension LibraryFolder {
    /// The folder of incomplete originals. The listing of originals skips it.
    static let arrivalsName = OriginalArrival.ownPrefix + "uploads"

    private var arrivals: FilePath { originals.appending(Self.arrivalsName) }

    /// A file that will become an original.
    struct Arriving: Sendable {
        let file: OpenFile
        let path: FilePath
        /// The names of the folders above the original.
        let folders: [String]
        let name: String
    }

    /// Creates the file for an original.
    ///
    /// - Returns: nil if the original already exists.
    /// - Throws: `storeUnavailable` if library or originals are not at their places; `noSpace`, `invalidValue`,
    ///   `assetOutsideLibrary`, `ioFailure`.
    func beginReceiving(_ arrival: OriginalArrival) throws(Failure) -> Arriving? {
        try arrival.checkName()
        // An original in an empty mount point is found by nobody when the disk is back.
        try checkPresence()
        var names = arrival.asset.string.utf8.split(separator: UInt8(ascii: "/"))
            .map { String(decoding: $0, as: UTF8.self) }
        let name = names.removeLast()
        // Folders are made with the move, so that a refused original leaves none.
        let folder = try files.openPresentFolder(
            names, in: originals, changed: .assetOutsideLibrary)
        if let folder, try originalExists(name, in: folder, arrival) { return nil }
        try arrival.checkSpace(DiskSpace(at: originals).free, at: originals.string)
        try files.makeFolder(arrivals)
        let random = (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 16) }
        let path = arrivals.appending(random.joined(separator: "-"))
        return Arriving(
            file: try lockedFile(path), path: path, folders: names, name: name)
    }

    /// Moves a file to its name.
    func endReceiving(
        _ arriving: Arriving, _ arrival: OriginalArrival
    ) throws(Failure) -> ReceivedOriginal {
        try files.faults?.reach("sync", arriving.path)
        try FileSystem.describing(
            "syncing", arriving.path, Descriptor.sync(arriving.file.descriptor))
        let folder = try files.openFolder(
            arriving.folders, in: originals, changed: .assetOutsideLibrary)
        if try files.moveToFreeName(arriving.path, to: arriving.name, in: folder) {
            noteOriginals()
            return .added
        }
        try files.remove(arriving.path)
        _ = try originalExists(arriving.name, in: folder, arrival)
        return .isThere
    }

    /// Removes the incomplete originals that crashes have left.
    ///
    /// - Returns: the number of removed files.
    @discardableResult
    public func sweepArrivals() throws(Failure) -> Int {
        var swept = 0
        for name in try files.list(arrivals) {
            let path = arrivals.appending(name)
            let file: OpenFile
            do throws(Errno) {
                file = try OpenFile(opening: path.string, O_RDWR | O_NOFOLLOW)
            } catch {
                // It is complete now, or another process sweeps.
                if error == .noSuchFileOrDirectory { continue }
                throw FileSystem.failure("opening", path, error)
            }
            guard try FileSystem.describing("locking", path, file.lock()) else { continue }
            guard try FileSystem.describing("reading the status of", path, file.isAt(path.string))
            else {
                continue
            }
            try files.remove(path)
            swept += 1
        }
        return swept
    }

    private func originalExists(
        _ name: String, in folder: OpenFile, _ arrival: OriginalArrival
    ) throws(Failure) -> Bool {
        guard let isFile = try files.isFile(name, in: folder) else { return false }
        guard isFile else {
            throw Failure(
                .invalidValue,
                "there is something at \(arrival.asset.string.debugDescription) that is no file: a folder of assets, or a link. "
                    + "Choose another name.")
        }
        return true
    }
}

extension FolderLibrary {
    public func receive(
        _ arrival: OriginalArrival,
        _ fill: (OpenFile) async throws(Failure) -> StoredDigest
    ) async throws(Failure) -> ReceivedOriginal {
        let begun = try await offPool { () throws(Failure) in
            try folder.beginReceiving(arrival)
        }
        guard let arriving = begun else { return .isThere }
        do throws(Failure) {
            try arrival.check(try await fill(arriving.file))
            return try await offPool { () throws(Failure) in
                try folder.endReceiving(arriving, arrival)
            }
        } catch {
            do throws(Failure) {
                try await offPool { () throws(Failure) in
                    try folder.files.remove(arriving.path)
                }
            } catch {
                // The first failure is more informative, and the next sweep removes the file.
            }
            throw error
        }
    }

    public func sweepArrivals() async throws(Failure) {
        _ = try await offPool { () throws(Failure) in try folder.sweepArrivals() }
    }
}
