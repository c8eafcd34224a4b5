import Codecs
import Edits

/// A picture of interleaved linear light, read on demand by rows.
protocol LightSource: PhotoReader {
    var size: PixelSize { get }
    var layout: PixelProgram.Layout { get }
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

/// Runs the passes of a plan over frames, as ``PassRunner`` does over a photo: the same steps, rows and filters.
///
/// A picture that must be read in any order is kept as light in memory: before a warp that does not stream, and at a turn.
struct FrameRunner {
    private let passes: [Pass]
    private let layout, result: FrameLayout
    private let coding: FrameCoding
    private let memory = LightMemoryPool()

    init(_ passes: [Pass], _ layout: FrameLayout, _ colour: FrameColour, result: FrameLayout) {
        (self.passes, self.layout, self.result) = (passes, layout, result)
        coding = FrameCoding(colour)
    }

    /// Edits a frame of ``layout`` into a frame of ``result``.
    func edit(_ source: [SourcePlane], into target: [TargetPlane]) {
        var light: any LightSource = FrameLight(source, layout, coding)
        var steps = PassStep.steps(of: passes)[...]
        while let step = steps.popFirst() {
            var filters = step.filters.isEmpty ? [] : [Pass.pixels(step.filters)]
            switch step.action {
            case .move(let geometry):
                if !filters.isEmpty { light = picture(filters, over: light) }
                light = light.moved(geometry, memory)
            case .rows(let passes):
                if case .geometry(let geometry)? = passes.first, !Planner.streams(geometry),
                    geometry.shrink != (1, 1)
                {
                    light = picture(filters, over: light, shrink: geometry.shrink)
                    filters = []
                }
                if steps.count == 1, steps.allSatisfy(\.filters.isEmpty) {
                    return write(plan(filters + passes, over: light), light, to: target)
                }
                light = picture(filters + passes, over: light)
            case .codes: write(plan(filters, over: light), light, to: target)
            }
        }
    }

    private func plan(
        _ passes: [Pass], over light: any LightSource,
        shrink: (columns: Int, rows: Int) = (1, 1), keepsAlpha: Bool = false
    ) -> RowPlan {
        let hasAlpha = keepsAlpha && (light.layout.hasAlpha || RowPlan.makeAlpha(passes))
        // Light has no curves, and its primaries are sRGB's.
        return RowPlan(
            passes: passes, shrink: shrink, source: light.layout,
            target: .init(sample: .linear, bands: hasAlpha ? 4 : 3), colour: .sRGB,
            targetColour: .sRGB, background: .white)
    }

    private func picture(
        _ passes: [Pass], over light: any LightSource,
        shrink: (columns: Int, rows: Int) = (1, 1)
    ) -> KeptLight {
        let plan = plan(passes, over: light, shrink: shrink, keepsAlpha: true)
        let (rows, format) = plan.rows(light.size)
        return KeptLight(
            rows, PixelSize(width: format.width, height: format.height), plan.target, of: light,
            memory)
    }

    private func write(_ plan: RowPlan, _ light: any LightSource, to target: [TargetPlane]) {
        let (rows, format) = plan.rows(light.size)
        precondition(
            format.width == result.width && format.height == result.height,
            "rows are planned for \(result.width) × \(result.height)")
        rows.reader = light
        let columns = FrameWriter.columns(result)
        withUnsafeTemporaryAllocation(of: Float.self, capacity: 3 * result.width + 2 * columns) {
            memory in
            guard let row = memory.baseAddress else { return }
            let writer = FrameWriter(
                target, result, coding, sums: .init(rebasing: memory[(3 * result.width)...]))
            for y in 0..<result.height {
                _ = rows.makeRow(into: row)
                writer.write(row, y: y)
            }
        }
        rows.reader = nil
    }
}

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
