import Adjustments
import Filters
import JPEG
import RenderProtocol

/// Consecutive per-pixel filters over the planes of a JPEG: YCbCr codes in, YCbCr codes out, without
/// upsampling and without an RGB picture.
///
/// Each luma sample with the chroma sample that it shares is a colour, which becomes red, green and blue
/// by JFIF's equations, goes through the filters, and comes back, not rounded in between. A chroma
/// sample of the result is the mean over the luma samples that share it.
struct PlaneProgram {
    private let filters: [any PixelFilter]
    private let colour: PhotoColour
    private let light: [Table<Float>]
    private let codes: [LightCurve]
    private let memos: ColourMemoPool
    private let vignette: PlaneVignette?

    /// Samplings that it knows.
    static let chromas: Set = ["4:4:4", "4:2:2", "4:4:0", "4:2:0"]

    /// Makes the pass; its tables are ready when this returns.
    ///
    /// - Parameters:
    ///   - filters: none of which uses its position, but the last one, if it is a ``RadialGain``.
    ///   - chain: the filters as the recipe names them, by which colours are kept from photo to photo.
    init(filters: [any PixelFilter], colour: PhotoColour, chain: [Filter]) {
        let last = filters.last as? any RadialGain
        vignette = last.map { PlaneVignette($0, colour) }
        self.filters = last == nil ? filters : filters.dropLast()
        self.colour = colour
        let curves = PlaneCurves(colour)
        light = curves.light
        codes = curves.codes
        memos = .pool(
            for: .init(
                filters: last == nil ? chain : chain.dropLast(), source: colour, target: colour,
                isYCbCr: true, words: last == nil ? 1 : PlaneVignette.words))
    }

    /// Replaces the samples of a row of MCUs. What fills up its edges has been filled in.
    ///
    /// - Parameters:
    ///   - mcuRow: of these planes.
    ///   - photoRow: which row of MCUs of the photo that is.
    func run(_ planes: JPEGPlanes, mcuRow: Int, photoRow: Int) {
        let memo = memos.take()
        let isLookedUp = memo.isWorthwhile
        let luma = planes.planes[0], blue = planes.planes[1], red = planes.planes[2]
        let down = luma.mcuHeight / blue.mcuHeight
        for row in 0..<blue.mcuHeight {
            let lumaRow = luma.row(row * down, of: mcuRow)
            let rows = Rows(
                luma: lumaRow, below: lumaRow + luma.stride, blue: blue.row(row, of: mcuRow),
                red: red.row(row, of: mcuRow), count: blue.stride,
                across: luma.stride / blue.stride, down: down)
            if let vignette {
                let photoLine = photoRow * luma.mcuHeight + row * down
                run(
                    rows, vignette, in: isLookedUp ? memo : nil,
                    y: Double(planes.layout.height - photoLine) - Double(down) / 2)
            } else if isLookedUp {
                lookUp(rows, in: memo)
            } else {
                compute(rows)
            }
        }
        if isLookedUp {
            memo.note(pixels: luma.stride * luma.mcuHeight)
        } else {
            memo.skip()
        }
        memos.putBack(memo)
        TestPoint.midRender.reach()
    }

    /// A row of chroma and the luma that shares it.
    struct Rows {
        let luma, below, blue, red: UnsafeMutablePointer<UInt8>
        /// Samples of chroma.
        let count: Int
        /// Samples of luma to a sample of chroma.
        let across, down: Int
    }

    /// Computes a run of the memo.
    private func fill(_ place: Int, _ results: UnsafeMutablePointer<UInt32>) {
        let first = ColourMemo.codes(of: place)
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 3 * ColourMemo.run) { bytes in
            guard let luma = bytes.baseAddress else { return }
            for i in 0..<ColourMemo.run {
                luma[i] = first.luma + UInt8(i)
                luma[i + ColourMemo.run] = first.blue
                luma[i + 2 * ColourMemo.run] = first.red
            }
            compute(luma, plane: ColourMemo.run, count: ColourMemo.run, into: results)
        }
    }

    private func run(
        _ rows: Rows, _ vignette: PlaneVignette, in memo: ColourMemo?, y: Double
    ) {
        withUnsafeTemporaryAllocation(of: UInt64.self, capacity: rows.count) { memory in
            guard let gains = memory.baseAddress else { return }
            vignette.fill(gains, count: rows.count, across: rows.across, y: y)
            guard let memo else { return compute(rows, vignette, gains) }
            switch (rows.across, rows.down) {
            case (2, 2):
                vignette.replace(
                    rows, across: 2, down: 2, shift: 2, gains: gains, in: memo, fill)
            case (2, 1):
                vignette.replace(
                    rows, across: 2, down: 1, shift: 1, gains: gains, in: memo, fill)
            case (1, 2):
                vignette.replace(
                    rows, across: 1, down: 2, shift: 1, gains: gains, in: memo, fill)
            default:
                vignette.replace(
                    rows, across: 1, down: 1, shift: 0, gains: gains, in: memo, fill)
            }
        }
    }

    private func lookUp(_ rows: Rows, in memo: ColourMemo) {
        let (luma, below, blue, red) = (rows.luma, rows.below, rows.blue, rows.red)
        switch (rows.across, rows.down) {
        case (2, 2):
            memo.replace(
                luma: luma, below: below, blue: blue, red: red, count: rows.count, across: 2,
                down: 2, shift: 2, fill)
        case (2, 1):
            memo.replace(
                luma: luma, below: below, blue: blue, red: red, count: rows.count, across: 2,
                down: 1, shift: 1, fill)
        case (1, 2):
            memo.replace(
                luma: luma, below: below, blue: blue, red: red, count: rows.count, across: 1,
                down: 2, shift: 1, fill)
        default:
            memo.replace(
                luma: luma, below: below, blue: blue, red: red, count: rows.count, across: 1,
                down: 1, shift: 0, fill)
        }
    }

    /// Without the memo, in chunks.
    private func compute(_ rows: Rows) {
        let shift = UInt32((rows.across * rows.down).trailingZeroBitCount)
        computeInChunks(rows, words: 1) { results, start, count in
            visit(rows, from: start, count: count) { i, luma, _ in
                luma.pointee = PackedColour.luma(results[i])
            }
            let size = 1 << Int(shift)
            for column in 0..<count {
                var sum: UInt32 = 0
                for i in column * size..<(column + 1) * size { sum &+= results[i] }
                rows.blue[start + column] = PackedColour.meanBlue(sum, shift: shift)
                rows.red[start + column] = PackedColour.meanRed(sum, shift: shift)
            }
        }
    }

    /// The same with a vignette.
    private func compute(_ rows: Rows, _ vignette: PlaneVignette, _ gains: UnsafePointer<UInt64>) {
        let shift = (rows.across * rows.down).trailingZeroBitCount
        computeInChunks(rows, words: PlaneVignette.words) { results, start, count in
            var total: UInt64 = 0
            visit(rows, from: start, count: count) { i, luma, column in
                let result = vignette.result(
                    results + i * PlaneVignette.words, gain: gains[column])
                luma.pointee = PlaneVignette.luma(of: result)
                total &+= result
                guard (i + 1).isMultiple(of: 1 << shift) else { return }
                (rows.blue[column], rows.red[column]) = PlaneVignette.chroma(
                    of: total, shift: shift)
                total = 0
            }
        }
    }

    /// Computes the colours of a row, a chunk after the other.
    ///
    /// - Parameters:
    ///   - words: of a result.
    ///   - store: puts the results of `count` chroma samples from `start` on into the planes.
    private func computeInChunks(
        _ rows: Rows, words: Int,
        _ store: (_ results: UnsafePointer<UInt32>, _ start: Int, _ count: Int) -> Void
    ) {
        let size = rows.across * rows.down
        let capacity = PixelChunk.capacity
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 3 * capacity) { bytes in
            withUnsafeTemporaryAllocation(of: UInt32.self, capacity: words * capacity) { packed in
                guard let codes = bytes.baseAddress, let results = packed.baseAddress else {
                    return
                }
                for start in stride(from: 0, to: rows.count, by: capacity / size) {
                    let count = min(capacity / size, rows.count - start)
                    visit(rows, from: start, count: count) { i, luma, column in
                        codes[i] = luma.pointee
                        codes[i + capacity] = rows.blue[column]
                        codes[i + 2 * capacity] = rows.red[column]
                    }
                    compute(codes, plane: capacity, count: count * size, into: results)
                    store(results, start, count)
                }
            }
        }
    }

    /// Goes over the luma samples of some chroma samples, those of one after those of the other.
    @inline(__always)
    private func visit(
        _ rows: Rows, from start: Int, count: Int,
        _ body: (_ index: Int, _ luma: UnsafeMutablePointer<UInt8>, _ column: Int) -> Void
    ) {
        var index = 0
        for column in start..<start + count {
            for y in 0..<rows.down {
                for x in 0..<rows.across {
                    let row = y == 0 ? rows.luma : rows.below
                    body(index, row + column * rows.across + x, column)
                    index += 1
                }
            }
        }
    }

    /// Computes colours: `count` lumas, and `plane` and twice that further their blue and red chromas.
    private func compute(
        _ luma: UnsafePointer<UInt8>, plane: Int, count: Int,
        into results: UnsafeMutablePointer<UInt32>
    ) {
        let capacity = PixelChunk.capacity
        withUnsafeTemporaryAllocation(of: Float.self, capacity: 4 * capacity) { floats in
            guard let memory = floats.baseAddress else { return }
            let alpha = memory + 3 * capacity
            alpha.update(repeating: 1, count: count)
            let chunk = PixelChunk(
                count: count, red: memory, green: memory + capacity, blue: memory + 2 * capacity,
                alpha: alpha)
            Self.read(luma, luma + plane, luma + 2 * plane, into: chunk)
            for (plane, light) in zip([chunk.red, chunk.green, chunk.blue], light) {
                Self.decode(plane, count, light.values)
            }
            if let toWorking = colour.toWorking { chunk.multiply(by: toWorking) }
            chunk.run(filters)
            if let fromWorking = colour.fromWorking { chunk.multiply(by: fromWorking) }
            if let vignette { return vignette.pack(chunk, into: results) }
            for (plane, curve) in zip([chunk.red, chunk.green, chunk.blue], codes) {
                curve.apply(to: plane, count: count)
            }
            Self.pack(chunk, into: results)
        }
    }

    /// JFIF 1.02, "Conversion to and from RGB". Codes from 0 to 255.
    private static func read(
        _ luma: UnsafePointer<UInt8>, _ blue: UnsafePointer<UInt8>, _ red: UnsafePointer<UInt8>,
        into chunk: PixelChunk
    ) {
        @inline(__always) func clamped(_ code: Float) -> Float {
            let above = code > 0 ? code : 0
            return above < 255 ? above : 255
        }
        for i in 0..<chunk.count {
            let (y, b, r) = (Float(luma[i]), Float(blue[i]) - 128, Float(red[i]) - 128)
            chunk.red[i] = clamped(y + 1.402 * r)
            chunk.green[i] = clamped(y - 0.344136 * b - 0.714136 * r)
            chunk.blue[i] = clamped(y + 1.772 * b)
        }
    }

    /// Light by code; codes between two have light between theirs.
    private static func decode(
        _ plane: UnsafeMutablePointer<Float>, _ count: Int, _ light: UnsafePointer<Float>
    ) {
        for i in 0..<count {
            let entry = Int(truncatingIfNeeded: Int32(plane[i]))
            let low = light[entry]
            plane[i] = low + (light[entry + 1] - low) * (plane[i] - Float(entry))
        }
    }

    private static func pack(_ chunk: PixelChunk, into results: UnsafeMutablePointer<UInt32>) {
        for i in 0..<chunk.count {
            let (r, g, b) = (chunk.red[i], chunk.green[i], chunk.blue[i])
            let y = 0.299 * r + 0.587 * g + 0.114 * b
            results[i] = PackedColour.pack(
                luma: y, blue: (b - y) * (1 / 1.772) + 128, red: (r - y) * (1 / 1.402) + 128)
        }
    }
}

/// The curves of a photo's colour for codes that are no whole numbers.
struct PlaneCurves {
    /// Linear light by code, for red, green, blue; one entry more than codes.
    let light: [Table<Float>]
    /// Code by linear light, for red, green, blue.
    let codes: [LightCurve]

    /// sRGB's own, made once per process: most photos need no others.
    private static let sRGB = PlaneCurves(building: .sRGB)

    init(_ colour: PhotoColour) {
        self = colour.curves == PhotoColour.sRGB.curves ? Self.sRGB : Self(building: colour)
    }

    private init(building colour: PhotoColour) {
        light = colour.curves.map { curve in
            Table(count: 257) { Float(curve.linear(min(Double($0) / 255, 1))) }
        }
        codes = colour.curves.map { curve in LightCurve { curve.encoded($0) * 255 } }
    }
}
