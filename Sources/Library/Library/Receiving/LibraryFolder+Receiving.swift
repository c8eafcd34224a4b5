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
    private struct Arriving: Sendable {
        let file: OpenFile
        let path: FilePath
        /// The names of the folders above the original.
        let folders: [String]
        let name: String
    }

    public func receive(
        _ arrival: OriginalArrival,
        _ fill: (OpenFile) async throws(Failure) -> StoredDigest
    ) async throws(Failure) -> ReceivedOriginal {
        try arrival.checkName()
        // An original in an empty mount point is found by nobody when the disk is back.
        try await checkPresence()
        let begun = try await offPool { () throws(Failure) in try begin(arrival) }
        guard let arriving = begun else { return .isThere }
        do throws(Failure) {
            try arrival.check(try await fill(arriving.file))
            return try await offPool { () throws(Failure) in try end(arriving, arrival) }
        } catch {
            do throws(Failure) {
                try await offPool { () throws(Failure) in try files.remove(arriving.path) }
            } catch {
                // The first failure is more informative, and the next sweep removes the file.
            }
            throw error
        }
    }

    /// Creates the file for an original.
    ///
    /// - Returns: nil if the original already exists.
    private func begin(_ arrival: OriginalArrival) throws(Failure) -> Arriving? {
        var names = arrival.asset.string.utf8.split(separator: UInt8(ascii: "/"))
            .map { String(decoding: $0, as: UTF8.self) }
        let name = names.removeLast()
        // Folders are made with the move, so that a refused original leaves none.
        if let folder = try openFolder(names, isMade: false),
            try originalExists(name, in: folder, arrival)
        {
            return nil
        }
        try arrival.checkSpace(DiskSpace(at: originals).free, at: originals.string)
        try files.makeFolder(arrivals)
        let random = (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 16) }
        let path = arrivals.appending(random.joined(separator: "-"))
        return Arriving(
            file: try lockedFile(path), path: path, folders: names, name: name)
    }

    private func openFolder(_ names: [String], isMade: Bool) throws(Failure) -> OpenFile? {
        try files.openFolder(names, in: originals, changed: .assetOutsideLibrary, isMade: isMade)
    }

    /// Moves a file to its name.
    private func end(
        _ arriving: Arriving, _ arrival: OriginalArrival
    ) throws(Failure) -> ReceivedOriginal {
        try files.faults?.reach("sync", arriving.path)
        try FileSystem.describing(
            "syncing", arriving.path, Descriptor.sync(arriving.file.descriptor))
        guard let folder = try openFolder(arriving.folders, isMade: true) else {
            throw FileSystem.failure("opening the folder of", arriving.path)
        }
        if try files.moveToFreeName(arriving.path, to: arriving.name, in: folder) {
            noteOriginals()
            return .added
        }
        try files.remove(arriving.path)
        _ = try originalExists(arriving.name, in: folder, arrival)
        return .isThere
    }

    public func sweepArrivals() async throws(Failure) {
        try await offPool { () throws(Failure) in
            for name in try files.list(arrivals) {
                let path = arrivals.appending(name)
                // Otherwise it is complete now, or is being received, or another process sweeps.
                guard case .ours(let file) = try FileSystem.lock(path, O_RDWR | O_NOFOLLOW) else {
                    continue
                }
                try files.remove(path)
                withExtendedLifetime(file) {}
            }
        }
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

/// An announced original.
public struct OriginalArrival: Sendable {
    /// The name of the asset.
    public let asset: AssetPath
    /// Its length.
    public let bytes: Int
    /// The bytes that must stay free on the target disk.
    public let bytesLeftFree: Int

    /// Creates the announcement of an original.
    public init(_ asset: AssetPath, bytes: Int, bytesLeftFree: Int = 0) {
        (self.asset, self.bytes, self.bytesLeftFree) = (asset, bytes, bytesLeftFree)
    }

    /// The prefix of names that are reserved for the library.
    static let ownPrefix = OriginalsListing.copyPrefix

    /// The most folders above an original. Deeper trees are made by mistakes, and each name would leave as many folders.
    static let foldersMax = 32

    /// Rejects a name that an original cannot have.
    ///
    /// - Throws: `invalidValue`.
    package func checkName() throws(Failure) {
        let names = asset.string.utf8.split(separator: UInt8(ascii: "/"))
        guard !names.contains(where: { $0.starts(with: Self.ownPrefix.utf8) }) else {
            throw Failure(
                .invalidValue,
                "the asset \(asset.string.debugDescription) has a name that begins with \(Self.ownPrefix), as the library's "
                    + "own files do. Choose another one.")
        }
        guard names.count - 1 <= Self.foldersMax else {
            throw Failure(
                .invalidValue,
                "the asset \(String(asset.string.prefix(80)).debugDescription)… lies in \(names.count - 1) folders; at most "
                    + "\(Self.foldersMax) are made for an original. Choose a shorter path.")
        }
    }

    /// Compares the received bytes with the announcement.
    ///
    /// - Throws: `invalidValue`.
    package func check(_ arrived: StoredDigest) throws(Failure) {
        guard arrived.bytes == bytes else {
            throw Failure(
                .invalidValue,
                "\(asset.string.debugDescription) came with \(arrived.bytes) bytes instead of \(bytes). Send it again."
            )
        }
    }

    /// Throws if too little space would stay free on the disk. Nothing is reserved yet: ``ArrivalSpace`` does that as bytes arrive.
    ///
    /// - Parameter free: the number of free bytes.
    /// - Throws: `noSpace`.
    package func checkSpace(_ free: Int, at path: String) throws(Failure) {
        let (needed, isTooMuch) = bytes.addingReportingOverflow(bytesLeftFree)
        guard !isTooMuch, needed <= free else {
            throw Failure(
                .noSpace,
                "\(asset.string.debugDescription) has \(bytes) bytes, \(path) has \(free) free, and \(bytesLeftFree) have to "
                    + "stay so. Free some space, and send it again.")
        }
    }
}

/// The outcome of receiving an original.
public enum ReceivedOriginal: Sendable, Equatable {
    /// The file is now an original.
    case added
    /// An original of that name already exists and is unchanged. The received file was removed.
    case isThere
}

/// The space of an arriving original, reserved a little ahead of its bytes, so that its announced length takes no space.
public struct ArrivalSpace: Sendable {
    /// The most bytes that are reserved and not written: long runs on the disk, and little if the bytes never arrive.
    public static let aheadBytes = 64 << 20

    private let arrival: OriginalArrival
    private var reserved = 0

    /// Creates the space of an original of which nothing has arrived.
    public init(of arrival: OriginalArrival) { self.arrival = arrival }

    /// Makes room for the bytes up to an offset.
    ///
    /// - Throws: `noSpace` if too little would stay free; `ioFailure`.
    public mutating func reserve(upTo end: Int, in file: OpenFile) throws(Failure) {
        guard end > reserved else { return }
        // Never beyond the announced length: the file would be longer than the original.
        let next = min(max(end, reserved + Self.aheadBytes), max(end, arrival.bytes))
        let free = try DiskSpace(of: file).free
        guard free - (next - reserved) >= arrival.bytesLeftFree else {
            throw Failure(
                .noSpace,
                "\(arrival.asset.string.debugDescription) does not fit: \(free) bytes are free after \(reserved) of it, and "
                    + "\(arrival.bytesLeftFree) have to stay so. Free some space, and send it again."
            )
        }
        try FileSystem().reserve(reserved..<next, for: file)
        reserved = next
    }
}
