import Edits
import Codecs

/// A picture of interleaved linear light, read on demand by rows.
protocol LightSource: PhotoReader {
    var size: PixelSize { get }
    /// The layout of the light.
    var layout: PixelProgram.Layout { get }
    /// Returns a part of the picture.
    func cropped(to area: PixelArea) -> any LightSource
}

extension LightSource {
    /// Returns the picture with pixels cropped or moved.
    ///
    /// - Parameters:
    ///   - geometry: a geometry that computes no pixels.
    ///   - memory: the memory for pictures that are kept for it.
    func moved(_ geometry: Geometry, _ memory: LightMemoryPool) -> any LightSource {
        switch geometry.kind {
        case .identity: self
        case .crop(let part): cropped(to: PixelArea(part, of: size))
        case .turn(let turn): (self as? KeptLight ?? KeptLight(self, memory)).turned(turn)
        case .scale, .warp: preconditionFailure("\(geometry) computes pixels")
        }
    }
}

/// A picture of light in memory: 12 bytes a pixel, 16 with alpha.
struct KeptLight: LightSource {
    let size: PixelSize
    let layout: PixelProgram.Layout
    private let memory: LightMemory
    private let start: UnsafeMutableRawPointer
    private let stride: Int

    private init(_ size: PixelSize, _ layout: PixelProgram.Layout, _ pool: LightMemoryPool) {
        (self.size, self.layout) = (size, layout)
        stride = size.width * layout.pixelBytes
        memory = LightMemory(stride * size.height, pool)
        start = memory.start
    }

    private init(
        _ size: PixelSize, of picture: KeptLight, from start: UnsafeMutableRawPointer
    ) {
        (self.size, layout, memory) = (size, picture.layout, picture.memory)
        (self.start, stride) = (start, picture.stride)
    }

    /// Computes all rows of a chain.
    ///
    /// - Parameter source: the picture that the chain reads.
    init(
        _ rows: any CodedRowSource, _ size: PixelSize, _ layout: PixelProgram.Layout,
        of source: any LightSource, _ memory: LightMemoryPool
    ) {
        self.init(size, layout, memory)
        rows.reader = source
        for y in 0..<size.height { _ = rows.makeRow(into: start + y * stride) }
        rows.reader = nil
    }

    /// Copies a picture.
    init(_ source: any LightSource, _ memory: LightMemoryPool) {
        self.init(source.size, source.layout, memory)
        for y in 0..<size.height {
            guard let row = source.rows(from: y, count: 1) else { continue }
            (start + y * stride).copyMemory(from: row.start, byteCount: stride)
        }
    }

    func rows(from top: Int, count: Int) -> RegionPixels? {
        pixels(of: PixelArea(left: 0, top: top, width: size.width, height: count))
    }

    func pixels(of area: PixelArea) -> RegionPixels? {
        RegionPixels(
            area: area, start: start + area.top * stride + area.left * layout.pixelBytes,
            stride: stride)
    }

    func cropped(to area: PixelArea) -> any LightSource {
        KeptLight(
            PixelSize(width: area.width, height: area.height), of: self,
            from: start + area.top * stride + area.left * layout.pixelBytes)
    }

    fileprivate func turned(_ turn: Orientation) -> KeptLight {
        let result = KeptLight(turn.size(of: size), layout, memory.pool)
        let parts = JPEGTurn(orientation: turn.rawValue)
        let planes = PlaneTurn(
            transposes: parts.transposes, flipsColumns: parts.mirrors, flipsRows: parts.flips)
        func copy<Pixel>(_ pixel: Pixel.Type) {
            planes.copy(
                (UnsafePointer(start.assumingMemoryBound(to: pixel)), stride),
                size: (size.width, size.height), room: (size.width, size.height),
                to: (result.start.assumingMemoryBound(to: pixel), result.stride))
        }
        if layout.hasAlpha { copy(SIMD4<Float>.self) } else { copy(LightPixel.self) }
        return result
    }
}

/// Red, green and blue in memory order.
private struct LightPixel {
    let red, green, blue: Float
}

private final class LightMemory {
    let start: UnsafeMutableRawPointer
    let pool: LightMemoryPool
    private let count: Int

    init(_ count: Int, _ pool: LightMemoryPool) {
        (self.count, self.pool) = (count, pool)
        start = pool.acquire(count)
    }

    deinit { pool.release(start, count) }
}

/// Memory for pictures of light, reused from frame to frame. The kernel clears newly mapped pages, which took half of the time of a
/// turned frame. Not thread-safe.
final class LightMemoryPool {
    private var free: [(start: UnsafeMutableRawPointer, count: Int)] = []

    /// The most pictures that are kept: a source, and its turned copy.
    private static let countMax = 2

    fileprivate func acquire(_ count: Int) -> UnsafeMutableRawPointer {
        if let index = free.firstIndex(where: { $0.count == count }) {
            return free.remove(at: index).start
        }
        return .allocate(byteCount: max(count, 1), alignment: 64)
    }

    fileprivate func release(_ start: UnsafeMutableRawPointer, _ count: Int) {
        free.append((start, count))
        if free.count > Self.countMax { free.removeFirst().start.deallocate() }
    }

    deinit { for memory in free { memory.start.deallocate() } }
}
