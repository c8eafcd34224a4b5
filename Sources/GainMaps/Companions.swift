/// What lies in a file beside its photo, as far as it is known and could be lost.
public enum Companion: String, Sendable, Codable, CaseIterable {
    /// How far away each place is.
    case depth
    /// The video of a motion photo.
    case motionVideo
    /// The other picture of a stereo pair.
    case secondEye
    /// The parts of the photo that are a person, hair, sky.
    case matte
}

extension Companion {
    /// What an auxiliary picture is by its URN; nil for gain maps and what is unknown.
    ///
    /// Sources: Apple's names in files of iOS 12 to 18; ISO/IEC 23008-12 §6.5.8 with ITU-T H.265 table F.2 (auxid 2 is depth).
    init?(auxiliary urn: String) {
        if urn.contains("depth") || urn.contains("disparity") || urn.hasSuffix(":auxid:2") {
            self = .depth
        } else if urn.contains("matte") {
            self = .matte
        } else {
            return nil
        }
    }
}
