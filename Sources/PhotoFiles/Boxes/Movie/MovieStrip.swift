/// The metadata to remove from a movie. Its pictures, sounds and times stay.
public enum MovieStrip: Sendable {
    /// Nothing.
    case none
    /// The location.
    case location
    /// Everything except for the identifiers that the two halves of a Live Photo need.
    case all

    /// Returns whether an entry of `udta` or of a list of values is removed, by its type.
    ///
    /// Source: QuickTime File Format, "User data atoms"; 3GPP TS 26.244 §8 (`loci`). `GPMF` is GoPro's and contains the location of
    /// the camera. XMP is removed completely, because many of its properties may contain the location.
    func leavesOut(_ type: BoxType) -> Bool {
        switch self {
        case .none: false
        case .location: ["©xyz", "loci", "GPMF", "XMP_", "GPS ", "gps ", "gps0"].contains(type)
        case .all: true
        }
    }

    /// Returns whether the value of a key of QuickTime's metadata is removed.
    func leavesOut(key: String) -> Bool {
        switch self {
        case .none: false
        case .location: Self.locationNames.contains { key.lowercased().contains($0) }
        case .all: key != Self.identifier
        }
    }

    /// Returns whether a track that is neither video nor sound is removed, by its sample description.
    ///
    /// These are tracks of cameras that record locations: GoPro's `gpmd`, Android's `camm`, Sony's `rtmd`, Canon's `CTMD`; and
    /// `mebx` with a key for a location.
    func leavesOut(_ track: MovieTrack) -> Bool {
        guard self != .none, !["vide", "soun"].contains(track.handler) else { return false }
        let entryText = String(decoding: track.entry, as: UTF8.self).lowercased()
        if self == .all, track.handler == "meta" { return !entryText.contains(Self.stillTime) }
        return track.formats.contains { ["gpmd", "camm", "rtmd", "CTMD"].contains($0) }
            || Self.locationNames.contains { entryText.contains($0) }
    }

    /// Parts of the names of keys for a location or the direction of a camera: `com.apple.quicktime.location.ISO6709`,
    /// `com.apple.quicktime.direction.facing`, `com.android.…location`.
    private static let locationNames = ["location", "direction", "gps"]
    /// The key of the identifier that links both halves of a Live Photo.
    private static let identifier = "com.apple.quicktime.content.identifier"
    /// The track with the time of a Live Photo's still.
    private static let stillTime = "still-image-time"

    /// The UUID of a `uuid` box with XMP (XMP specification part 3, "MPEG-4").
    static let xmp: [UInt8] = [
        0xBE, 0x7A, 0xCF, 0xCB, 0x97, 0xA9, 0x42, 0xE8, 0x9C, 0x71, 0x99, 0x94, 0x91, 0xE3, 0xAF,
        0xAC,
    ]
}
