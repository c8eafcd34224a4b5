package import Filters

/// Tables between encoded samples and linear light, for the pixel loops.
package struct ColourTables: Sendable {
    /// Linear light by 8-bit code, for red, green, blue.
    package let linear8: [Table<Float>]
    /// 8-bit code by linear light, over ``scale``.
    package let encoded8: [Table<UInt8>]

    /// The scale of ``encoded8``. Steps of 1/1024 of an octave move an 8-bit code by 0.05 at the most. Below 2⁻²⁰ all curves of
    /// photos round to code 0.
    package static let scale = LogScale(stepBits: 10, octavesBelowOne: 20, octavesAboveOne: 0)

    /// sRGB's tables, built once per process: most photos need no others.
    package static let sRGB = ColourTables(building: .sRGB)

    package init(_ colour: PhotoColour) {
        self = colour.curves == PhotoColour.sRGB.curves ? Self.sRGB : Self(building: colour)
    }

    private init(building colour: PhotoColour) {
        var linear: [Table<Float>] = []
        var encoded: [Table<UInt8>] = []
        for (channel, curve) in colour.curves.enumerated() {
            if channel > 0, curve == colour.curves[0] {
                linear.append(linear[0])
                encoded.append(encoded[0])
                continue
            }
            linear.append(Table(count: 256) { Float(curve.linear(Double($0) / 255)) })
            encoded.append(Table(Self.scale) { UInt8(curve.encoded($0) * 255 + 0.5) })
        }
        linear8 = linear
        encoded8 = encoded
    }

    /// Returns linear light by 16-bit code; 256 KB per curve, built when a 16-bit photo arrives.
    package static func linear16(_ colour: PhotoColour) -> [Table<Float>] {
        var tables: [Table<Float>] = []
        for (channel, curve) in colour.curves.enumerated() {
            tables.append(
                channel > 0 && curve == colour.curves[0]
                    ? tables[0]
                    : Table(count: 65_536) { Float(curve.linear(Double($0) / 65_535)) })
        }
        return tables
    }

    /// The scale of ``encoded16(_:)``. 16-bit codes are interpolated linearly between 128 points per octave: x^(1/2.4) deviates by
    /// 0.12 codes at the most. Below 2⁻⁴⁴ all curves of photos are below one code.
    package static let scale16 = LogScale(stepBits: 7, octavesBelowOne: 44, octavesAboveOne: 0)

    /// Returns unrounded 16-bit codes by linear light at the points of ``scale16``; 22 KB per curve.
    package static func encoded16(_ colour: PhotoColour) -> [Table<Float>] {
        var tables: [Table<Float>] = []
        for (channel, curve) in colour.curves.enumerated() {
            tables.append(
                channel > 0 && curve == colour.curves[0]
                    ? tables[0]
                    : Table(count: scale16.count + 1) {
                        Float(curve.encoded(scale16.lowerEnd(of: $0)) * 65_535)
                    })
        }
        return tables
    }
}
