package import Filters

/// ICC profiles for colours that a file declares without one.
///
/// Source of the layout: ICC.1:2010 §7.2 (header), §7.3 (tag table), §8.3.3 and §8.4.3 (tags of monitor profiles), §10.5
/// (curveType), §10.13 (multiLocalizedUnicodeType), §10.15 (parametricCurveType), §10.27 (XYZType). The same colour always has the
/// same bytes.
package enum ICCProfileBytes {
    /// Returns the profile of RGB codes with one curve for all channels.
    ///
    /// - Parameter toXYZ: linear RGB to XYZ of illuminant D50.
    package static func rgb(toXYZ: ColourMatrix, curve: ToneCurve) -> [UInt8] {
        let columns = (0..<3).map { column in
            xyz((0..<3).map { toXYZ.rows[3 * $0 + column] })
        }
        let curve = bytes(of: curve)
        return profile(
            "RGB ",
            [
                ("rXYZ", columns[0]), ("gXYZ", columns[1]), ("bXYZ", columns[2]), ("rTRC", curve),
                ("gTRC", curve), ("bTRC", curve),
            ])
    }

    /// Returns the profile of grey codes.
    package static func grey(curve: ToneCurve) -> [UInt8] {
        profile("GRAY", [("kTRC", bytes(of: curve))])
    }

    /// The texts of the description and of the copyright; the profile is in the public domain.
    private static let description = "Colours by numbers", copyright = "CC0"

    private static func profile(_ space: String, _ own: [(String, [UInt8])]) -> [UInt8] {
        let tags =
            [
                ("desc", text(description)), ("cprt", text(copyright)),
                ("wtpt", xyz(Primaries.d50)),
            ] + own
        var table = number(tags.count)
        var data: [UInt8] = []
        // Tags of the same content share it.
        var known: [[UInt8]: Int] = [:]
        let start = 128 + 4 + 12 * tags.count
        for (name, content) in tags {
            let offset = known[content] ?? start + data.count
            if known.updateValue(offset, forKey: content) == nil { data += content }
            table += Array(name.utf8) + number(offset) + number(content.count)
        }
        // Version 4.2, a monitor, made on 1 January 2020, perceptual.
        let made: [UInt8] = [7, 228, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0]
        return number(start + data.count) + number(0) + [4, 0x20, 0, 0] + Array("mntr".utf8)
            + Array(space.utf8) + Array("XYZ ".utf8) + made + Array("acsp".utf8)
            + [UInt8](repeating: 0, count: 28) + Primaries.d50.flatMap(fixed)
            + [UInt8](repeating: 0, count: 48) + table + data
    }

    private static func bytes(of curve: ToneCurve) -> [UInt8] {
        switch curve {
        case .parametric(let g, let a, let b, let c, let d, let e, let f):
            let kind = e != 0 || f != 0 ? 4 : d != 0 || a != 1 || b != 0 ? 3 : 0
            let numbers = [[g], [], [], [g, a, b, c, d], [g, a, b, c, d, e, f]][kind]
            return Array("para".utf8) + number(0) + [0, UInt8(kind), 0, 0] + numbers.flatMap(fixed)
        case .samples(let values):
            let samples = values.flatMap { value in
                let sample = UInt16(min(max(value, 0), 1) * 65_535 + 0.5)
                return [UInt8(sample >> 8), UInt8(sample & 255)]
            }
            return padded(Array("curv".utf8) + number(0) + number(values.count) + samples)
        }
    }

    private static func xyz(_ numbers: [Double]) -> [UInt8] {
        Array("XYZ ".utf8) + number(0) + numbers.flatMap(fixed)
    }

    /// A text in one language. Its record of 12 bytes begins after 16 bytes, its characters, of 2 bytes, after 28.
    private static func text(_ text: String) -> [UInt8] {
        let characters = text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
        return padded(
            Array("mluc".utf8) + number(0) + number(1) + number(12) + Array("enUS".utf8)
                + number(characters.count) + number(28) + characters)
    }

    /// Tags begin at multiples of four.
    private static func padded(_ bytes: [UInt8]) -> [UInt8] {
        bytes + [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
    }

    private static func fixed(_ value: Double) -> [UInt8] {
        number(Int((min(max(value, -32_767), 32_767) * 65_536).rounded()))
    }

    private static func number(_ number: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
    }
}
