/// Fonts of Debian's package `fonts-noto-core`, which `ops/test` installs: none has letters of another one's script.
public enum TestFont: String, CaseIterable, Sendable {
    case latin = "Sans"
    case arabic = "NaskhArabic"
    case hebrew = "SansHebrew"
    case thai = "SansThai"
    case devanagari = "SansDevanagari"

    public var path: String { "/usr/share/fonts/truetype/noto/Noto\(rawValue)-Regular.ttf" }
}
