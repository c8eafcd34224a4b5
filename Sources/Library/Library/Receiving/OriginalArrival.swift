public import Edits

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
