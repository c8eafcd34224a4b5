import Edits

extension Companion {
    /// Returns the kind of an auxiliary picture by its URN; nil for gain maps and unknown ones.
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
