import Edits
import Codecs

/// Writes rows of light into the planes of a frame, from top to bottom.
///
/// Chroma is the mean of the unrounded red, green and blue codes that share it, at the position that ``FrameLight`` assumes.
struct FrameWriter {
    private let planes: [TargetPlane]
    private let frame: FrameLayout
    private let coding: FrameCoding
    /// The differences of blue and red to luma, summed for a row of chroma.
    private let blue, red: UnsafeMutableBufferPointer<Float>

    /// - Parameter sums: memory for twice as many numbers as a row of chroma has samples.
    init(
        _ planes: [TargetPlane], _ frame: FrameLayout, _ coding: FrameCoding,
        sums: UnsafeMutableBufferPointer<Float>
    ) {
        (self.planes, self.frame, self.coding) = (planes, frame, coding)
        let count = Self.columns(frame)
        blue = .init(rebasing: sums[..<count])
        red = .init(rebasing: sums[count..<2 * count])
    }

    /// Returns the number of samples in a row of chroma.
    static func columns(_ frame: FrameLayout) -> Int { frame.width / frame.across }

    /// Writes a row.
    ///
    /// - Parameter row: interleaved light, three numbers a pixel.
    func write(_ row: UnsafePointer<Float>, y: Int) {
        if frame.sampleBytes == 1 {
            write(row, y, UInt8.self)
        } else {
            write(row, y, UInt16.self)
        }
    }

    private func write<Sample: FixedWidthInteger>(
        _ row: UnsafePointer<Float>, _ y: Int, _ kind: Sample.Type
    ) {
        guard let blue = blue.baseAddress, let red = red.baseAddress else { return }
        let (count, across, down) = (Self.columns(frame), frame.across, frame.down)
        if y % down == 0 {
            blue.update(repeating: 0, count: count)
            red.update(repeating: 0, count: count)
        }
        let luma = planes[0].row(y).assumingMemoryBound(to: kind)
        LightChunk.with { memory in
            for start in stride(from: 0, to: frame.width, by: PixelChunk.capacity) {
                let chunk = memory.chunk(min(PixelChunk.capacity, frame.width - start))
                var pixel = row + 3 * start
                for i in 0..<chunk.count {
                    (chunk.red[i], chunk.green[i], chunk.blue[i]) = (pixel[0], pixel[1], pixel[2])
                    pixel += 3
                }
                coding.encode(chunk)
                coding.writeLuma(chunk, to: luma + start)
                Self.add(chunk.blue, to: blue + start / across, chunk.count, across)
                Self.add(chunk.red, to: red + start / across, chunk.count, across)
            }
        }
        guard y % down == down - 1 else { return }
        func samples(_ plane: Int) -> UnsafeMutablePointer<Sample> {
            planes[plane].row(y / down).assumingMemoryBound(to: kind)
        }
        coding.writeChroma(
            blue, red, count: count, pixels: across * down, to: samples(1), samples(2))
    }

    private static func add(
        _ differences: UnsafePointer<Float>, to sums: UnsafeMutablePointer<Float>, _ count: Int,
        _ across: Int
    ) {
        if across == 1 {
            for i in 0..<count { sums[i] += differences[i] }
        } else {
            for i in 0..<count / 2 { sums[i] += differences[2 &* i] + differences[2 &* i &+ 1] }
        }
    }
}
