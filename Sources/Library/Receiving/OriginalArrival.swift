public import Adjustments

/// An original that is about to arrive.
public struct OriginalArrival: Sendable {
    /// The asset that it is to be.
    public let asset: AssetPath
    /// Its length.
    public let bytes: Int
    /// The bytes that have to stay free on the disk that it goes to.
    public let bytesLeftFree: Int

    /// Describes an original.
    public init(_ asset: AssetPath, bytes: Int, bytesLeftFree: Int = 0) {
        (self.asset, self.bytes, self.bytesLeftFree) = (asset, bytes, bytesLeftFree)
    }

    /// The beginning of names that the library has for itself.
    static let ownPrefix = OriginalsWalk.partPrefix

    /// Refuses a name that would not be an original's.
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
    }

    /// Compares what arrived with what was announced.
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

    /// Fails when the disk would get too full.
    ///
    /// - Parameter free: the bytes that are free.
    /// - Throws: `noSpace`.
    package func checkSpace(_ free: Int, at place: String) throws(Failure) {
        let (needed, isTooMuch) = bytes.addingReportingOverflow(bytesLeftFree)
        guard !isTooMuch, needed <= free else {
            throw Failure(
                .noSpace,
                "\(asset.string.debugDescription) has \(bytes) bytes, \(place) has \(free) free, and \(bytesLeftFree) have to "
                    + "stay so. Free some space, and send it again.")
        }
    }
}

/// The end of an arrival.
public enum ReceivedOriginal: Sendable, Equatable {
    /// It is an original now.
    case added
    /// There is one of that name already, which stays as it is; nothing is left of the other.
    case isThere
}
