package import Edits

/// A mark as it is drawn: a picture that is mixed with the rows of a rendition.
package struct MarkLayer: Sendable {
    package let size: PixelSize
    /// Red, green, blue and alpha of each pixel, top row first: sRGB-encoded, not multiplied by alpha.
    private let codes: [UInt8]
    private let opacity: Float
    private let blend: Overlay.Blend

    package init(size: PixelSize, codes: [UInt8], opacity: Double, blend: Mark.Blend) {
        precondition(codes.count == 4 * size.pixels, "\(codes.count) codes for \(size)")
        self.size = size
        self.codes = codes
        self.opacity = Float(opacity)
        self.blend = blend.mix
    }

    /// Draws one row of the layer over a row of a picture: linear light in three planes, or in four, multiplied by alpha.
    ///
    /// - Parameters:
    ///   - line: the row of the layer.
    ///   - left: the column of the picture at which the layer begins; may be outside.
    package func draw(
        line: Int, at left: Int, on row: PlanarRow, width: Int, hasAlpha: Bool
    ) {
        guard (0..<size.height).contains(line) else { return }
        let first = max(0, left)
        let end = min(width, left + size.width)
        for start in stride(from: first, to: end, by: PixelChunk.capacity) {
            let count = min(PixelChunk.capacity, end - start)
            withUnsafeTemporaryAllocation(of: Float.self, capacity: count) { ones in
                ones.initialize(repeating: 1)
                guard let opaque = ones.baseAddress else { return }
                let below = PixelChunk(
                    count: count, red: row[0] + start, green: row[1] + start, blue: row[2] + start,
                    alpha: hasAlpha ? row[3] + start : opaque)
                if hasAlpha { below.divideByAlpha() }
                below.withCopy { above in
                    read(above, from: line * size.width + start - left)
                    Overlay.lay(above, on: below, blend)
                }
                if hasAlpha { below.multiplyByAlpha() }
            }
        }
    }

    private func read(_ chunk: PixelChunk, from pixel: Int) {
        let light = EncodedLight.table
        let scale = opacity / 255
        codes.withUnsafeBufferPointer { codes in
            var index = 4 * pixel
            for i in 0..<chunk.count {
                chunk.red[i] = light[Int(codes[index])]
                chunk.green[i] = light[Int(codes[index + 1])]
                chunk.blue[i] = light[Int(codes[index + 2])]
                chunk.alpha[i] = Float(codes[index + 3]) * scale
                index += 4
            }
        }
    }
}

extension PixelChunk {
    fileprivate func divideByAlpha() {
        for plane in colours {
            for i in 0..<count where alpha[i] > 0 { plane[i] /= alpha[i] }
        }
    }

    fileprivate func multiplyByAlpha() {
        for plane in colours { for i in 0..<count { plane[i] *= alpha[i] } }
    }
}

extension Mark.Blend {
    fileprivate var mix: Overlay.Blend {
        switch self {
        case .sourceOver: CISourceOverCompositing.blend
        case .colorBurn: CIColorBurnBlendMode.blend
        case .colorDodge: CIColorDodgeBlendMode.blend
        case .darken: CIDarkenBlendMode.blend
        case .difference: CIDifferenceBlendMode.blend
        case .exclusion: CIExclusionBlendMode.blend
        case .hardLight: CIHardLightBlendMode.blend
        case .lighten: CILightenBlendMode.blend
        case .multiply: CIMultiplyBlendMode.blend
        case .overlay: CIOverlayBlendMode.blend
        case .screen: CIScreenBlendMode.blend
        case .softLight: CISoftLightBlendMode.blend
        }
    }
}

/// The codes of linear light in 8 bits of sRGB, as layers are kept.
package enum LightCodes {
    /// Steps of light, fine enough that no code is missed where the curve is steepest: 12.92 × 255 codes for a light of 1.
    private static let steps = 16_384
    private static let table: [UInt8] = (0...steps).map {
        UInt8((ToneCurve.sRGB.encoded(Double($0) / Double(steps)) * 255).rounded())
    }

    /// Returns the code of a light from 0 to 1.
    package static func code(_ light: Float) -> UInt8 {
        table[Int(min(max(light, 0), 1) * Float(steps) + 0.5)]
    }

    /// Returns the light of a code.
    package static func light(_ code: UInt8) -> Float { EncodedLight.table[Int(code)] }
}
