/// Metadata that a movie loses. Its pictures, sounds and times stay.
public enum MovieStrip: Sendable {
    /// Nothing.
    case none
    /// Where it was taken.
    case place
    /// All but what the two halves of a Live Photo need.
    case all

    /// Whether an entry of `udta` or of a list of values, by its type, is left out.
    ///
    /// Source: QuickTime File Format, "User data atoms"; 3GPP TS 26.244 §8 (`loci`). `GPMF` is GoPro's, with the place of
    /// its camera. XMP goes whole: it may say the place in many words.
    func leavesOut(_ type: BoxType) -> Bool {
        switch self {
        case .none: false
        case .place: ["©xyz", "loci", "GPMF", "XMP_", "GPS ", "gps ", "gps0"].contains(type)
        case .all: true
        }
    }

    /// Whether the value of a key of QuickTime's metadata is left out.
    func leavesOut(key: String) -> Bool {
        switch self {
        case .none: false
        case .place: Self.words.contains { key.lowercased().contains($0) }
        case .all: key != Self.identifier
        }
    }

    /// Whether a track that is neither pictures nor sound is left out, by its sample description.
    ///
    /// Those of cameras that write places: GoPro's `gpmd`, Android's `camm`, Sony's `rtmd`, Canon's `CTMD`; and `mebx` with
    /// a key of a place.
    func leavesOut(_ track: MovieTrack) -> Bool {
        guard self != .none, !["vide", "soun"].contains(track.handler) else { return false }
        let says = String(decoding: track.entry, as: UTF8.self).lowercased()
        if self == .all, track.handler == "meta" { return !says.contains(Self.stillTime) }
        return track.formats.contains { ["gpmd", "camm", "rtmd", "CTMD"].contains($0) }
            || Self.words.contains { says.contains($0) }
    }

    /// In names of keys that say where something was, or where a camera looked: `com.apple.quicktime.location.ISO6709`,
    /// `com.apple.quicktime.direction.facing`, `com.android.…location`.
    private static let words = ["location", "direction", "gps"]
    /// The key by which both halves of a Live Photo find each other.
    private static let identifier = "com.apple.quicktime.content.identifier"
    /// The track that says at which time a Live Photo's still was taken.
    private static let stillTime = "still-image-time"

    /// The kind of a `uuid` box that is XMP (XMP specification part 3, "MPEG-4").
    static let xmp: [UInt8] = [
        0xBE, 0x7A, 0xCF, 0xCB, 0x97, 0xA9, 0x42, 0xE8, 0x9C, 0x71, 0x99, 0x94, 0x91, 0xE3, 0xAF,
        0xAC,
    ]
}
