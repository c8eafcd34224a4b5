package import Filters
import Glibc
import PhotoFiles

/// An ICC profile of an RGB space with three primaries and three tone curves, the kind that cameras and phones embed: sRGB, Display
/// P3, Adobe RGB.
///
/// Source of the layout: ICC.1:2010 §7.2 (header), §7.3 (tag table), §10.5 (curveType), §10.15 (parametricCurveType), §10.27
/// (XYZType). The bytes are untrusted: all reads are checked.
package struct ICCMatrixProfile: Sendable {
    package let curves: [ToneCurve]
    /// Linear RGB to XYZ (D50).
    package let toXYZ: ColourMatrix

    private static let headerLength = 128
    /// The most tags of a profile that are searched.
    private static let tagsMax = 128
    /// The most samples of a curve.
    private static let samplesMax = 65_536

    /// Reads a profile; nil if it is damaged or of another kind (tables, grey, CMYK).
    package init?(_ bytes: [UInt8]) {
        var header = ByteCursor(bytes, at: 16)
        var table = ByteCursor(bytes, at: Self.headerLength)
        guard header.type() == "RGB ", header.type() == "XYZ ", let count = table.number(4),
            (1...Self.tagsMax).contains(count)
        else { return nil }
        var tags: [String: Int] = [:]
        for _ in 0..<count {
            guard let name = table.type(), let offset = table.number(4), table.number(4) != nil
            else { return nil }
            tags[name] = offset
        }
        // A profile with tables may have primaries too, but the tables take precedence.
        guard tags["A2B0"] == nil, tags["A2B1"] == nil else { return nil }
        var columns: [[Double]] = []
        var curves: [ToneCurve] = []
        for channel in ["r", "g", "b"] {
            guard let primary = tags[channel + "XYZ"], let tone = tags[channel + "TRC"],
                let column = Self.xyz(ByteCursor(bytes, at: primary)),
                let curve = Self.curve(ByteCursor(bytes, at: tone)), curve.isRising
            else { return nil }
            columns.append(column)
            curves.append(curve)
        }
        self.curves = curves
        toXYZ = ColourMatrix(rows: (0..<9).map { columns[$0 % 3][$0 / 3] })
    }

    private static func xyz(_ cursor: ByteCursor) -> [Double]? {
        var cursor = cursor
        guard cursor.type() == "XYZ ", cursor.number(4) != nil, let x = cursor.fixed(),
            let y = cursor.fixed(), let z = cursor.fixed()
        else { return nil }
        return [x, y, z]
    }

    private static func curve(_ cursor: ByteCursor) -> ToneCurve? {
        var cursor = cursor
        guard let type = cursor.type(), cursor.number(4) != nil else { return nil }
        return switch type {
        case "curv": sampledCurve(cursor)
        case "para": parametricCurve(cursor)
        default: nil
        }
    }

    private static func sampledCurve(_ cursor: ByteCursor) -> ToneCurve? {
        var cursor = cursor
        guard let count = cursor.number(4), (0...samplesMax).contains(count) else { return nil }
        if count == 0 { return .gamma(1) }
        var samples: [Double] = []
        for _ in 0..<count {
            guard let value = cursor.number(2) else { return nil }
            samples.append(Double(value))
        }
        if count == 1 { return .gamma(samples[0] / 256) }
        return .samples(samples.map { $0 / 65_535 })
    }

    private static func parametricCurve(_ cursor: ByteCursor) -> ToneCurve? {
        var cursor = cursor
        guard let kind = cursor.number(2), kind <= 4, cursor.number(2) != nil else { return nil }
        var p: [Double] = []
        for _ in 0..<[1, 3, 4, 5, 7][kind] {
            guard let value = cursor.fixed() else { return nil }
            p.append(value)
        }
        guard p[0] > 0, kind == 0 || p[1] != 0 else { return nil }
        return switch kind {
        case 0: .gamma(p[0])
        case 1: .parametric(g: p[0], a: p[1], b: p[2], c: 0, d: -p[2] / p[1], e: 0, f: 0)
        case 2: .parametric(g: p[0], a: p[1], b: p[2], c: 0, d: -p[2] / p[1], e: p[3], f: p[3])
        case 3: .parametric(g: p[0], a: p[1], b: p[2], c: p[3], d: p[4], e: 0, f: 0)
        default: .parametric(g: p[0], a: p[1], b: p[2], c: p[3], d: p[4], e: p[5], f: p[6])
        }
    }
}

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
