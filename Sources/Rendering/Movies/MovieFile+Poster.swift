import Edits
import PhotoFiles
import Codecs
import Filters
import RenderProtocol

extension MovieFile {
    /// Returns the frame at a time as an sRGB picture in stored orientation: 8 bits, or 16 for a movie of more than 8.
    ///
    /// Light above white, as in HLG and PQ, is clipped.
    ///
    /// - Parameter seconds: from the beginning; a time after the end selects the last frame.
    /// - Throws: `VipsError` or `Failure`.
    func poster(at seconds: Double) throws -> Image {
        let wanted = frame(at: seconds)
        var picture: PosterPicture?
        try FrameReader(self, part: wanted.part).read { frame, rank throws(Failure) in
            guard rank == wanted.rank else { return true }
            picture = PosterPicture(frame, try colour(of: frame.layout), isDeep: isDeep)
            return false
        }
        guard let picture else {
            throw Failure(
                .damagedVideo,
                "\(file.name) is a movie without the frame at \(seconds) s. Upload it again.")
        }
        return try Image.over(
            UnsafeRawBufferPointer(picture.samples), of: picture, width: picture.width,
            height: picture.height,
            bands: 3, format: isDeep ? .ushort : .uchar,
            interpretation: isDeep ? "rgb16" : "srgb")
    }

    /// Returns the meaning of frames' codes, by the sample description first, then the stream.
    func colour(of layout: FrameLayout) throws(Failure) -> FrameColour {
        try FrameColour(
            of: layout,
            container: FrameColour.Declaration(
                primaries: codec.colour?.primaries, transfer: codec.colour?.transfer,
                matrix: codec.colour?.matrix, isFullRange: codec.colour?.isFullRange),
            stream: FrameColour.Declaration(
                primaries: layout.primaries, transfer: layout.transfer, matrix: layout.matrix,
                isFullRange: layout.isFullRange))
    }
}

/// A frame as sRGB red, green and blue.
private final class PosterPicture: Sendable {
    let width: Int, height: Int
    nonisolated(unsafe) let samples: UnsafeMutableRawBufferPointer
    private let isDeep: Bool

    /// Entries of the tables between a channel's codes and light; values between them are interpolated.
    private static let entries = 4096

    init(_ frame: DecodedFrame, _ colour: FrameColour, isDeep: Bool) {
        (width, height) = (frame.layout.width, frame.layout.height)
        self.isDeep = isDeep
        samples = .allocate(byteCount: width * height * 3 * (isDeep ? 2 : 1), alignment: 16)
        let equations = colour.equations(white: 1)
        let light = Table<Float>(count: Self.entries + 2) {
            Float(min(colour.transfer.linear(Double($0) / Double(Self.entries)), 1))
        }
        let most: Double = isDeep ? 65_535 : 255
        // Indexed by the square root of light, so that dark codes are as finely resolved as light ones.
        let codes = Table<Float>(count: Self.entries + 2) {
            let root = Double($0) / Double(Self.entries)
            return Float(ToneCurve.sRGB.encoded(min(root * root, 1)) * most)
        }
        let matrix = (colour.toWorking?.rows ?? [1, 0, 0, 0, 1, 0, 0, 0, 1]).map { Float($0) }
        let shift = frame.layout.chromaShift
        let (luma, blue, red) = (frame.planes[0], frame.planes[1], frame.planes[2])
        let hasByteSamples = frame.layout.sampleBytes == 1
        func code(_ plane: DecodedFrame.Plane, _ x: Int, _ y: Int) -> Float {
            let row = plane.start + y * plane.stride
            return hasByteSamples
                ? Float(row.load(fromByteOffset: x, as: UInt8.self))
                : Float(row.load(fromByteOffset: 2 * x, as: UInt16.self))
        }
        for y in 0..<height {
            for x in 0..<width {
                let grey = (code(luma, x, y) - equations.black) * equations.scale
                let b = code(blue, x >> shift.x, y >> shift.y) - equations.zero
                let r = code(red, x >> shift.x, y >> shift.y) - equations.zero
                let pixel = (
                    Self.value(light, grey + equations.redByRed * r),
                    Self.value(light, grey - equations.greenByBlue * b - equations.greenByRed * r),
                    Self.value(light, grey + equations.blueByBlue * b)
                )
                for band in 0..<3 {
                    let row = 3 * band
                    let amount =
                        matrix[row] * pixel.0 + matrix[row + 1] * pixel.1
                        + matrix[row + 2] * pixel.2
                    store(
                        Self.value(codes, max(0, amount).squareRoot()),
                        at: 3 * (y * width + x) + band)
                }
            }
        }
    }

    deinit { samples.deallocate() }

    private func store(_ code: Float, at index: Int) {
        if isDeep {
            samples.storeBytes(of: UInt16(code + 0.5), toByteOffset: 2 * index, as: UInt16.self)
        } else {
            samples.storeBytes(of: UInt8(code + 0.5), toByteOffset: index, as: UInt8.self)
        }
    }

    private static func value(_ table: Table<Float>, _ position: Float) -> Float {
        let position = max(0, min(1, position)) * Float(entries)
        let entry = Int(position)
        let low = table.values[entry]
        return low + (table.values[entry + 1] - low) * (position - Float(entry))
    }

}
