import Filters
import PhotoFiles

/// The conversion of a TIFF's numbers to codes of 8 or 16 bits: grey, RGB or CMYK, and alpha.
///
/// Integers are codes. Floating-point numbers of grey and CMYK, and those with a profile, are codes from 0 to 1; those of RGB without
/// a profile are linear light with sRGB's primaries, as Photoshop writes them. L*a*b* and light become codes of sRGB, and luma and chroma
/// codes of RGB.
struct TIFFColours {
    /// The forms of colours before they are codes.
    private enum Form {
        case codes(isInverted: Bool)
        case light
        case lab(LabNumbers)
        case luma(LumaNumbers)
    }

    private let form: Form
    private let colours: Int
    private let hasAlpha: Bool
    private let isMultiplied: Bool
    /// The greatest code.
    private let most: Float
    /// Whether the codes have 16 bits.
    let isDeep: Bool
    /// Whether the codes are sRGB, and the file's profile does not apply.
    let isConverted: Bool

    var bands: Int { colours + (hasAlpha ? 1 : 0) }
    /// libvips' name of the meaning.
    var interpretation: String {
        switch colours {
        case 1: isDeep ? "grey16" : "b-w"
        case 4: "cmyk"
        default: isDeep ? "rgb16" : "srgb"
        }
    }

    /// - Parameter luma: the numbers of a picture of luma and chroma.
    init(_ picture: TIFFPicture, _ meaning: TIFFPicture.Colours, luma: TIFFPicture.Luma) {
        let hasProfile = picture.range(of: .profile) != nil
        switch meaning {
        case .grey(let isWhiteZero): form = .codes(isInverted: isWhiteZero)
        case .rgb: form = picture.isFloat && !hasProfile ? .light : .codes(isInverted: false)
        case .cmyk: form = .codes(isInverted: false)
        case .lab(let isICC): form = .lab(LabNumbers(picture, isICC: isICC))
        case .luma: form = .luma(LumaNumbers(luma, bits: picture.bits ?? 8))
        }
        switch form {
        case .codes, .luma:
            isConverted = false
            isDeep = picture.isFloat || picture.bits ?? 8 > 8
        case .light, .lab: (isConverted, isDeep) = (true, true)
        }
        colours = meaning.count
        hasAlpha = picture.alpha != nil
        isMultiplied = picture.alpha?.isAssociated ?? false
        most = isDeep ? 65_535 : 255
    }

    /// Converts a row.
    ///
    /// - Parameters:
    ///   - planes: a row of each colour, then of alpha; overwritten.
    ///   - codes: receives interleaved codes.
    func convert(
        _ planes: [UnsafeMutableBufferPointer<Float>], into codes: UnsafeMutableRawPointer
    ) {
        if isMultiplied { divide(planes) }
        switch form {
        case .codes(let isInverted):
            guard isInverted else { break }
            for index in planes[0].indices { planes[0][index] = 1 - planes[0][index] }
        case .light: encode(planes)
        case .lab(let numbers):
            numbers.makeLight(planes)
            encode(planes)
        case .luma(let numbers): numbers.makeColours(planes)
        }
        if isDeep {
            write(planes, into: codes.assumingMemoryBound(to: UInt16.self))
        } else {
            write(planes, into: codes.assumingMemoryBound(to: UInt8.self))
        }
    }

    /// Divides colours by alpha; they are 0 where alpha is.
    private func divide(_ planes: [UnsafeMutableBufferPointer<Float>]) {
        guard let alpha = planes.last else { return }
        for plane in planes.dropLast() {
            for index in plane.indices {
                plane[index] = alpha[index] > 0 ? plane[index] / alpha[index] : 0
            }
        }
    }

    private func write<Code: FixedWidthInteger & UnsignedInteger>(
        _ planes: [UnsafeMutableBufferPointer<Float>], into codes: UnsafeMutablePointer<Code>
    ) {
        for (band, plane) in planes.enumerated() {
            var target = codes + band
            for number in plane {
                target.pointee = Code(min(max(number, 0), 1) * most + 0.5)
                target += planes.count
            }
        }
    }

    private func encode(_ planes: [UnsafeMutableBufferPointer<Float>]) {
        let last = Float(Self.roots - 1)
        Self.codesByRoot.withUnsafeBufferPointer { table in
            for plane in planes.prefix(3) {
                for index in plane.indices {
                    let position = min(max(plane[index], 0), 1).squareRoot() * last
                    let entry = min(Int(position), Self.roots - 2)
                    let part = position - Float(entry)
                    plane[index] = table[entry] + (table[entry + 1] - table[entry]) * part
                }
            }
        }
    }

    /// Codes of sRGB by the square root of light, which follows the curve closely enough for linear interpolation: it deviates by
    /// 0.02 of 65,535 at the most.
    private static let roots = 4097
    private static let codesByRoot = (0..<roots).map { root -> Float in
        let share = Double(root) / Double(roots - 1)
        return Float(ToneCurve.sRGB.encoded(share * share))
    }
}

/// The encoding of L*a*b* in a TIFF.
///
/// Source: TIFF 6.0 §23 (CIELab: a* and b* are signed), TIFF Technical Note 2 (ICCLab: as in an ICC profile, where in 16 bits
/// 0xFF00 is 100 and 0x8000 is 0).
private struct LabNumbers {
    private let toLightness: Float
    private let toColour: Float
    /// Steps of a full range, for a* and b* as signed numbers; 0 for those with an offset.
    private let range: Float
    private let offset: Float

    init(_ picture: TIFFPicture, isICC: Bool) {
        let isEight = picture.bits == 8
        if picture.isFloat {
            (toLightness, toColour, range, offset) = (1, 1, 0, 0)
        } else if isICC {
            toLightness = isEight ? 100 : 100 * 65_535 / 65_280
            toColour = isEight ? 255 : 65_535.0 / 256
            (range, offset) = (0, 128)
        } else {
            toLightness = 100
            toColour = isEight ? 255 : 65_535.0 / 256
            (range, offset) = (256, 0)
        }
    }

    /// Replaces L*, a* and b* by linear light with sRGB's primaries.
    func makeLight(_ planes: [UnsafeMutableBufferPointer<Float>]) {
        guard let matrix = ColourMatrix.sRGBToXYZ.inverse?.rows.map(Float.init) else { return }
        for index in planes[0].indices {
            let y = (planes[0][index] * toLightness + 16) / 116
            let x = y + colour(planes[1][index]) / 500
            let z = y - colour(planes[2][index]) / 200
            // Shares of D50's white (ICC.1:2010 §7.2.16).
            let xyz = (0.9642 * Self.light(x), Self.light(y), 0.8249 * Self.light(z))
            for row in 0..<3 {
                planes[row][index] =
                    matrix[3 * row] * xyz.0 + matrix[3 * row + 1] * xyz.1 + matrix[3 * row + 2]
                    * xyz.2
            }
        }
    }

    private func colour(_ number: Float) -> Float {
        let colour = number * toColour - offset
        return range > 0 && colour >= range / 2 ? colour - range : colour
    }

    /// CIE 15 §8.2.1.
    private static func light(_ root: Float) -> Float {
        root > 6.0 / 29 ? root * root * root : 3 * 36 / 841 * (root - 4.0 / 29)
    }
}

/// The encoding of luma and chroma in a TIFF.
///
/// Source: TIFF 6.0 §21.
private struct LumaNumbers {
    /// The factor and the addend of a code from 0 to 1: luma becomes 0 to 1, chroma lies around 0.
    private let factors: [Float]
    private let offsets: [Float]
    /// The parts of red, green and blue in luma.
    private let red: Float, green: Float, blue: Float

    init(_ luma: TIFFPicture.Luma, bits: Int) {
        let most = Double(1 << bits - 1), half = Double(1 << (bits - 1) - 1)
        let codes = luma.blackAndWhite
        var (factors, offsets) = ([Float](), [Float]())
        for channel in 0..<3 {
            let (black, white) = (codes[2 * channel], codes[2 * channel + 1])
            let range = (channel == 0 ? most : half) / most / (white - black)
            factors.append(Float(most * range))
            offsets.append(Float(-black * range))
        }
        (self.factors, self.offsets) = (factors, offsets)
        let parts = luma.coefficients.map(Float.init)
        (red, green, blue) = (parts[0], parts[1], parts[2])
    }

    /// Replaces luma and both chromas by red, green and blue.
    func makeColours(_ planes: [UnsafeMutableBufferPointer<Float>]) {
        for index in planes[0].indices {
            let y = planes[0][index] * factors[0] + offsets[0]
            let cb = planes[1][index] * factors[1] + offsets[1]
            let cr = planes[2][index] * factors[2] + offsets[2]
            let r = cr * (2 - 2 * red) + y
            let b = cb * (2 - 2 * blue) + y
            planes[0][index] = r
            planes[1][index] = (y - blue * b - red * r) / green
            planes[2][index] = b
        }
    }
}
