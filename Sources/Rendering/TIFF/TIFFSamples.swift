import PhotoFiles

/// The numbers of a TIFF's samples: integers of 1 to 32 bits as shares of the greatest one, and floating-point numbers of 16, 24, 32
/// and 64 bits.
enum TIFFSamples {
    case integers(bits: Int)
    case half, float24, float, double

    /// Creates the numbers of a picture; nil for unsupported ones.
    init?(_ picture: TIFFPicture) {
        switch (picture.isFloat, picture.bits) {
        case (true, 16): self = .half
        case (true, 24): self = .float24
        case (true, 32): self = .float
        case (true, 64): self = .double
        case (false, .some(let bits)) where (1...32).contains(bits): self = .integers(bits: bits)
        default: return nil
        }
    }

    /// Reads every `step`-th sample of a row, from `first` on. A number that is none (NaN) is 0.
    func read(
        _ row: UnsafeRawBufferPointer, from first: Int, step: Int,
        into result: UnsafeMutableBufferPointer<Float>
    ) {
        func fill(_ sample: (Int) -> Float) {
            for index in result.indices { result[index] = sample(first + index * step) }
        }
        func numbers<Number: BitwiseCopyable>(_: Number.Type) -> UnsafeBufferPointer<Number> {
            row.bindMemory(to: Number.self)
        }
        switch self {
        case .integers(8):
            let samples = numbers(UInt8.self)
            fill { Float(samples[$0]) / 255 }
        case .integers(16):
            let samples = numbers(UInt16.self)
            fill { Float(samples[$0]) / 65_535 }
        case .integers(32):
            let samples = numbers(UInt32.self)
            fill { Float(Double(samples[$0]) / Double(UInt32.max)) }
        case .integers(24):
            let most = Float(1 << 24 - 1)
            fill { Float(Self.triple(row, $0)) / most }
        case .integers(let bits):
            let most = Double(1 << bits - 1)
            fill { Float(Double(Self.packed(row, $0 * bits, bits)) / most) }
        case .half:
            let samples = numbers(UInt16.self)
            fill { Self.known(Self.half(samples[$0])) }
        case .float24: fill { Self.known(Self.float24(UInt32(Self.triple(row, $0)))) }
        case .float:
            let samples = numbers(Float.self)
            fill { Self.known(samples[$0]) }
        case .double:
            let samples = numbers(Double.self)
            fill { Self.known(Float(samples[$0])) }
        }
    }

    private static func known(_ number: Float) -> Float { number.isNaN ? 0 : number }

    /// Three bytes, which libtiff puts into the machine's order.
    private static func triple(_ row: UnsafeRawBufferPointer, _ index: Int) -> Int {
        Int(row[3 * index]) | Int(row[3 * index + 1]) << 8 | Int(row[3 * index + 2]) << 16
    }

    /// Bits that follow each other, the highest first, whatever the file's byte order (TIFF 6.0 §7, FillOrder 1).
    private static func packed(_ row: UnsafeRawBufferPointer, _ start: Int, _ count: Int) -> Int {
        var number = 0
        for index in start / 8...(start + count - 1) / 8 { number = number << 8 | Int(row[index]) }
        let after = 7 - (start + count - 1) % 8
        return number >> after & (1 << count - 1)
    }

    /// IEEE 754 binary16; `Float16` is missing on x86-64 without AVX512.
    private static func half(_ bits: UInt16) -> Float {
        small(bits: UInt32(bits), fractionBits: 10, exponentBits: 5)
    }

    /// Adobe's number of 24 bits: 7 of the exponent and 16 of the fraction (Photoshop TIFF Technical Note 3).
    private static func float24(_ bits: UInt32) -> Float {
        small(bits: bits, fractionBits: 16, exponentBits: 7)
    }

    private static func small(bits: UInt32, fractionBits: UInt32, exponentBits: UInt32) -> Float {
        let fraction = bits & (1 << fractionBits - 1)
        let exponent = bits >> fractionBits & (1 << exponentBits - 1)
        let isNegative = bits >> (fractionBits + exponentBits) & 1 == 1
        let bias = Int(1 << (exponentBits - 1)) - 1
        let share = Float(fraction) / Float(UInt32(1) << fractionBits)
        let amount: Float =
            if exponent == 1 << exponentBits - 1 {
                fraction == 0 ? .infinity : .nan
            } else if exponent == 0 {
                Float(sign: .plus, exponent: 1 - bias, significand: share)
            } else {
                Float(sign: .plus, exponent: Int(exponent) - bias, significand: 1 + share)
            }
        return isNegative ? -amount : amount
    }
}
