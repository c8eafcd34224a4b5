import Edits
import Codecs

/// The light of a decoded frame, computed while it is read.
///
/// Chroma is assumed to lie in the middle of the pixels that share it, as in a JPEG, whatever the stream declares. It is written
/// back to the same position, so nothing moves unless a picture is scaled or turned, and then by less than half a pixel of luma times
/// the scale. Chroma has the same position after any turn.
final class FrameLight: LightSource {
    let size: PixelSize
    let layout = PixelProgram.Layout(sample: .linear, bands: 3)
    private let planes: [SourcePlane]
    private let frame: FrameLayout
    private let coding: FrameCoding
    private let left, top: Int
    private let blue, red: ChromaRow
    private var buffer = UnsafeMutableBufferPointer<Float>(start: nil, count: 0)

    init(
        _ planes: [SourcePlane], _ frame: FrameLayout, _ coding: FrameCoding, area: PixelArea? = nil
    ) {
        (self.planes, self.frame, self.coding) = (planes, frame, coding)
        size = PixelSize(
            width: area?.width ?? frame.width, height: area?.height ?? frame.height)
        (left, top) = (area?.left ?? 0, area?.top ?? 0)
        let length = (frame.width + frame.across - 1) / frame.across
        blue = ChromaRow(width: size.width, shiftX: frame.chromaShift.x, length: length)
        red = ChromaRow(width: size.width, shiftX: frame.chromaShift.x, length: length)
    }

    deinit { buffer.deallocate() }

    func cropped(to area: PixelArea) -> any LightSource {
        FrameLight(
            planes, frame, coding,
            area: PixelArea(
                left: left + area.left, top: top + area.top, width: area.width,
                height: area.height))
    }

    func rows(from top: Int, count: Int) -> RegionPixels? {
        pixels(of: PixelArea(left: 0, top: top, width: size.width, height: count))
    }

    func pixels(of area: PixelArea) -> RegionPixels? {
        let count = 3 * area.width * area.height
        if buffer.count < count {
            buffer.deallocate()
            buffer = .allocate(capacity: count)
        }
        guard let start = buffer.baseAddress else { return nil }
        for row in 0..<area.height {
            let target = start + 3 * area.width * row
            let (x, y) = (left + area.left, top + area.top + row)
            if frame.sampleBytes == 1 {
                read(UInt8.self, x, y, area.width, into: target)
            } else {
                read(UInt16.self, x, y, area.width, into: target)
            }
        }
        return RegionPixels(
            area: area, start: UnsafeMutableRawPointer(start),
            stride: area.width * layout.pixelBytes)
    }

    private func read<Sample: FixedWidthInteger>(
        _ kind: Sample.Type, _ x: Int, _ y: Int, _ width: Int,
        into row: UnsafeMutablePointer<Float>
    ) {
        let near = y / frame.down
        let last = (frame.height + frame.down - 1) / frame.down - 1
        let far = frame.down == 1 ? near : y & 1 == 1 ? min(near + 1, last) : max(near - 1, 0)
        for (chroma, plane) in [(blue, planes[1]), (red, planes[2])] {
            chroma.fill(
                from: .init(near: plane.row(near), far: plane.row(far)),
                sampleBytes: frame.sampleBytes, left: x, count: width)
        }
        let luma = planes[0].row(y).assumingMemoryBound(to: kind) + x
        LightChunk.with { planes in
            for start in stride(from: 0, to: width, by: PixelChunk.capacity) {
                let chunk = planes.chunk(min(PixelChunk.capacity, width - start))
                coding.read(luma + start, blue.values + start, red.values + start, into: chunk)
                var pixel = row + 3 * start
                for i in 0..<chunk.count {
                    pixel[0] = chunk.red[i]
                    pixel[1] = chunk.green[i]
                    pixel[2] = chunk.blue[i]
                    pixel += 3
                }
            }
        }
    }
}

/// Memory for the colours of a chunk.
struct LightChunk {
    private let start: UnsafeMutablePointer<Float>

    /// Allocates memory for the duration of a call.
    static func with(_ body: (LightChunk) -> Void) {
        withUnsafeTemporaryAllocation(of: Float.self, capacity: 4 * PixelChunk.capacity) {
            guard let start = $0.baseAddress else { return }
            body(LightChunk(start: start))
        }
    }

    /// Returns some pixels, whose alpha is not set.
    func chunk(_ count: Int) -> PixelChunk {
        let capacity = PixelChunk.capacity
        return PixelChunk(
            count: count, red: start, green: start + capacity, blue: start + 2 * capacity,
            alpha: start + 3 * capacity)
    }
}
