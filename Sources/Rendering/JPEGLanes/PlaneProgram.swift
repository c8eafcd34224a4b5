import Adjustments
import Filters
import JPEG
import Pixels
import RenderProtocol

/// Consecutive per-pixel filters over the planes of a JPEG: YCbCr codes in, YCbCr codes out, without
/// upsampling and without an RGB picture.
///
/// Each luma sample with the chroma sample that it shares is a colour, which becomes red, green and blue
/// by JFIF's equations, goes through the filters, and comes back, not rounded in between. A chroma
/// sample of the result is the mean over the luma samples that share it.
struct PlaneProgram {
    let filters: [any PixelFilter]
    let colour: PhotoColour
    let light: [Table<Float>]
    let codes: [LightCurve]
    private let memos: ColourMemoPool
    let vignette: PlaneVignette?

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
}
