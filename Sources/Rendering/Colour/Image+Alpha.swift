import Edits
import Codecs

extension Image {
    /// Returns the picture with codes of colours divided by alpha, its last channel; they are 0 where alpha is.
    func dividedByAlpha() throws(VipsError) -> Image {
        guard hasAlpha, format == .uchar || format == .ushort else { return self }
        let (bands, isEight) = (bands, format == .uchar)
        return try computing(
            RegionPicture(
                width: width, height: height, bands: bands, format: format,
                interpretation: interpretation)
        ) { input, output in
            for row in 0..<output.area.height {
                let count = output.area.width
                if isEight {
                    Self.divide(UInt8.self, input.row(row), output.row(row), bands, count)
                } else {
                    Self.divide(UInt16.self, input.row(row), output.row(row), bands, count)
                }
            }
        }
    }

    private static func divide<Code: FixedWidthInteger & UnsignedInteger>(
        _: Code.Type, _ from: UnsafeMutableRawPointer, _ to: UnsafeMutableRawPointer,
        _ bands: Int, _ count: Int
    ) {
        var source = from.assumingMemoryBound(to: Code.self)
        var target = to.assumingMemoryBound(to: Code.self)
        let most = Int(Code.max)
        for _ in 0..<count {
            let alpha = Int(source[bands - 1])
            for band in 0..<bands - 1 {
                let code = Int(source[band])
                target[band] =
                    alpha == 0 ? 0 : Code(min(most, (code * most + alpha / 2) / alpha))
            }
            target[bands - 1] = source[bands - 1]
            source += bands
            target += bands
        }
    }
}
