import Edits
import Testing

@Suite("AssetPath") struct AssetPathTests {
    @Test(arguments: [
        "IMG_0001.JPG", "2026/11/IMG_0002.HEIC", "写真/été.jpg", "a b/(1).jpg", "...", "..a/b..",
        ".hidden/photo.png", #"a\..\b"#, "a:b", "~", "%2e%2e/a", "می\u{200c}خواهم.jpg",
        "👩\u{200d}👧.heic", "Scherm\u{ad}afbeelding 14.49.57.png", "\u{200f}\u{5e6}\u{5d9}.png",
        "photo\u{200b}name.png", "a\u{200e}b\u{61c}", "gpj.\u{202e}exe", "a\u{2066}b", "a\u{2028}b",
        "a\u{2029}b", "\u{feff}a", "a\u{fffd}", "a\u{ffff}",
        "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}.png", "%41.jpg",
        String(repeating: "x", count: 255), String(repeating: "x/", count: 511) + "xy",
    ])
    func `a plain relative path is taken as it is`(_ text: String) throws {
        #expect(try AssetPath(text).string == text)
    }

    @Test(arguments: [
        "/", "/etc/passwd", "//a", "..", "../a", "a/..", "a/../b", "a/../../b", "../",
    ])
    func `a path that leads out is refused`(_ text: String) {
        expect(.assetOutsideLibrary, naming: text) { try AssetPath(text) }
    }

    /// Swift compares characters, the file system bytes: a slash with an accent on it is one
    /// character to the former and still ends a component for the latter.
    @Test(arguments: [
        "/\u{301}etc", "../\u{301}a", "a/../\u{301}b", "/\u{301}../a", "..\u{2f}\u{20dd}",
    ])
    func `a path that leads out behind a combining mark is refused`(_ text: String) {
        expect(.assetOutsideLibrary) { try AssetPath(text) }
    }

    @Test(arguments: [
        "a//b", "a/", "./a", "a/.", "a/./b", "a\u{0}b", "a\nb", "a\r\nb", "a\u{1b}[2J", "a\u{7f}",
        "a\u{80}", "a\u{85}", "a\u{9b}31m", "a\tb",
        String(repeating: "x", count: 256), "a/" + String(repeating: "é", count: 128), "a/\u{301}/",
    ])
    func `a path that is not plain is refused`(_ text: String) {
        expect(.invalidValue, naming: "not a plain relative path") { try AssetPath(text) }
    }

    /// A file system of Linux holds both beside each other.
    @Test func `names that are the same to a reader and not in bytes are two assets`() throws {
        let names = [
            "caf\u{e9}.jpg", "cafe\u{301}.jpg", "\u{212b}.jpg", "\u{c5}.jpg", "A\u{30a}.jpg",
        ]
        let assets = try names.map { try AssetPath($0) }
        #expect(Set(assets).count == names.count)
        let again = try AssetPath("caf\u{e9}.jpg")
        #expect(assets[0] != assets[1] && assets[0] == again)
    }

    @Test func `an empty path names no photo`() {
        expect(.missingField, naming: "asset is empty") { try AssetPath("") }
    }

    @Test func `the longest path is taken and a longer one is refused, counted in bytes`() {
        let longest = String(repeating: "é/", count: 341) + "x"
        #expect(longest.utf8.count == ContractLimits.assetBytesMax)
        #expect(throws: Never.self) { try AssetPath(longest) }
        expect(.oversizedField, naming: "1025 bytes") { try AssetPath(longest + "x") }
    }

    @Test(arguments: [
        ("IMG_0001.JPG", "IMG_0001"), ("2026/IMG.tar.gz", "IMG.tar"), ("a.b/c", "c"),
        (".hidden", ".hidden"), ("a/.hidden.jpg", ".hidden"), ("a.", "a"), ("a/x.\u{301}y", "x"),
    ])
    func `the stem is the file name without its last extension`(_ path: String, _ stem: String)
        throws
    {
        #expect(try AssetPath(path).stem == stem)
    }
}
