import Dashboard
import Testing

struct StyleTests {
    static let style =
        StaticFile.all.first { $0.name == "style.css" }
        .map { String(decoding: $0.bytes, as: UTF8.self) } ?? ""

    /// Text on grounds: WCAG 2.2, 1.4.3 asks for 4.5 : 1.
    static let texts: [(String, [String])] = [
        ("text", ["ground", "raised", "calm-ground"]),
        ("soft", ["ground", "raised", "calm-ground"]),
        ("link", ["ground", "raised"]),
        ("good", ["ground", "raised", "good-ground"]),
        ("busy", ["ground", "raised", "busy-ground"]),
        ("attention", ["ground", "raised", "attention-ground"]),
        ("trouble", ["ground", "raised", "trouble-ground"]),
        ("soft", ["attention-ground"]), ("text", ["attention-ground"]), ("on-accent", ["accent"]),
    ]
    /// Things that one must see to use them: 1.4.11 asks for 3 : 1.
    static let shapes: [(String, [String])] = [
        ("edge", ["ground", "raised"]), ("accent", ["ground", "raised"]),
        ("busy", ["track"]), ("good", ["track"]), ("attention", ["track"]), ("trouble", ["track"]),
    ]

    @Test(arguments: ["light", "dark"]) func `colours are far enough from their grounds`(
        _ scheme: String
    ) throws {
        let colours = try tokens(of: scheme)
        for (pairs, least) in [(Self.texts, 4.5), (Self.shapes, 3.0)] {
            for (front, grounds) in pairs {
                for ground in grounds {
                    let ratio = contrast(
                        try #require(colours[front]), try #require(colours[ground]))
                    #expect(ratio >= least, "--\(front) on --\(ground), \(scheme): \(ratio)")
                }
            }
        }
    }

    @Test func `the style loads nothing from elsewhere`() {
        #expect(!Self.style.isEmpty)
        #expect(!Self.style.contains("url("))
        #expect(!Self.style.contains("@import"))
    }

    /// The colours of `:root`; the dark ones are in the second block.
    private func tokens(of scheme: String) throws -> [String: [Double]] {
        let blocks = Self.style.matches(of: /:root \{([^}]*)\}/).map { String($0.output.1) }
        try #require(blocks.count == 2)
        var colours: [String: [Double]] = [:]
        for match in blocks[scheme == "light" ? 0 : 1].matches(of: /--([a-z-]+): #([0-9a-f]{6});/) {
            let number = try #require(Int(match.output.2, radix: 16))
            colours[String(match.output.1)] = [number >> 16, number >> 8 & 255, number & 255]
                .map { Double($0) / 255 }
        }
        return colours
    }

    /// WCAG 2.2, "contrast ratio" and "relative luminance".
    private func contrast(_ one: [Double], _ other: [Double]) -> Double {
        func luminance(_ colour: [Double]) -> Double {
            let linear = colour.map { $0 <= 0.04045 ? $0 / 12.92 : power(($0 + 0.055) / 1.055) }
            return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
        }
        let (a, b) = (luminance(one), luminance(other))
        return (max(a, b) + 0.05) / (min(a, b) + 0.05)
    }

    /// `base` to the power of 2.4: its fifth root, to the twelfth.
    private func power(_ base: Double) -> Double {
        var root = 1.0
        for _ in 0..<60 {
            root -= (root * root * root * root * root - base) / (5 * root * root * root * root)
        }
        return (0..<12).reduce(1.0) { product, _ in product * root }
    }
}
