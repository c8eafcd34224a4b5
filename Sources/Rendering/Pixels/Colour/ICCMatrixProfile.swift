package import Filters
import Glibc

/// An ICC profile of an RGB space with three primaries and three tone curves, the kind that cameras and phones embed: sRGB, Display
/// P3, Adobe RGB.
///
/// Source of the layout: ICC.1:2010 §7.2 (header), §7.3 (tag table), §10.5 (curveType), §10.15 (parametricCurveType), §10.27
/// (XYZType). The bytes are untrusted: all reads are checked.
package struct ICCMatrixProfile: Sendable {
    /// Curves for red, green, blue.
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
        let reader = Bytes(bytes)
        guard bytes.count > Self.headerLength + 4, reader.text(16) == "RGB ",
            reader.text(20) == "XYZ ", let count = reader.int(Self.headerLength),
            (1...Self.tagsMax).contains(count)
        else { return nil }
        var tags: [String: Int] = [:]
        for tag in 0..<count {
            let entry = Self.headerLength + 4 + tag * 12
            guard let name = reader.text(entry), let offset = reader.int(entry + 4) else {
                return nil
            }
            tags[name] = offset
        }
        // A profile with tables may have primaries too, but the tables take precedence.
        guard tags["A2B0"] == nil, tags["A2B1"] == nil else { return nil }
        var columns: [[Double]] = []
        var curves: [ToneCurve] = []
        for channel in ["r", "g", "b"] {
            guard let primary = tags[channel + "XYZ"].flatMap(reader.xyz),
                let curve = tags[channel + "TRC"].flatMap({ Self.curve(reader, at: $0) }),
                curve.isRising
            else { return nil }
            columns.append(primary)
            curves.append(curve)
        }
        self.curves = curves
        toXYZ = ColourMatrix(rows: (0..<9).map { columns[$0 % 3][$0 / 3] })
    }

    private static func curve(_ reader: Bytes, at offset: Int) -> ToneCurve? {
        switch reader.text(offset) {
        case "curv": sampledCurve(reader, at: offset)
        case "para": parametricCurve(reader, at: offset)
        default: nil
        }
    }

    private static func sampledCurve(_ reader: Bytes, at offset: Int) -> ToneCurve? {
        guard let count = reader.int(offset + 8), (0...samplesMax).contains(count) else {
            return nil
        }
        if count == 0 { return .gamma(1) }
        var samples: [Double] = []
        for index in 0..<count {
            guard let value = reader.short(offset + 12 + 2 * index) else { return nil }
            samples.append(Double(value))
        }
        if count == 1 { return .gamma(samples[0] / 256) }
        return .samples(samples.map { $0 / 65_535 })
    }

    private static func parametricCurve(_ reader: Bytes, at offset: Int) -> ToneCurve? {
        guard let kind = reader.short(offset + 8), kind <= 4 else { return nil }
        var p: [Double] = []
        for index in 0..<[1, 3, 4, 5, 7][kind] {
            guard let value = reader.fixed(offset + 12 + 4 * index) else { return nil }
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

    /// Big-endian reads that return nil past the end.
    private struct Bytes {
        let bytes: [UInt8]

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        func short(_ offset: Int) -> Int? {
            guard offset >= 0, offset + 2 <= bytes.count else { return nil }
            return Int(bytes[offset]) << 8 | Int(bytes[offset + 1])
        }

        func int(_ offset: Int) -> Int? {
            guard let high = short(offset), let low = short(offset + 2) else { return nil }
            return high << 16 | low
        }

        func fixed(_ offset: Int) -> Double? {
            int(offset).map { Double(Int32(truncatingIfNeeded: $0)) / 65_536 }
        }

        func text(_ offset: Int) -> String? {
            guard offset >= 0, offset + 4 <= bytes.count else { return nil }
            return String(decoding: bytes[offset..<offset + 4], as: UTF8.self)
        }

        func xyz(_ offset: Int) -> [Double]? {
            guard text(offset) == "XYZ ", let x = fixed(offset + 8), let y = fixed(offset + 12),
                let z = fixed(offset + 16)
            else { return nil }
            return [x, y, z]
        }
    }
}
