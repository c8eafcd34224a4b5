import Codecs
import Edits
import Files
import Filters
import Glibc
import RenderProtocol

/// The rows of one rendition on their way from the reduction to its encoder: sharpening, the canvas, marks, codes.
final class RenditionRows: LightSink {
    let room: PlanarRow
    private let plan: PlannedRendition
    private let reduced: ScratchRow
    /// A row of the result, with the canvas at both sides.
    private let whole: ScratchRow
    private let sourcePlanes: Int
    private let sharpening: RowSharpening?
    private let marks: (any RowMarks)?
    private let program: PixelProgram
    private let codes: UnsafeMutableRawBufferPointer
    private let encoder: any RowEncoder
    /// Makes the small picture of which the hashes are; nil if none is asked for.
    private let hashed: HashReducer?
    private var y = 0
    /// The reason why no more rows are taken, for a rendition that may be missing.
    private(set) var failure: Failure?

    /// - Parameters:
    ///   - planes: of the rows that are taken.
    ///   - colour: the meaning of the codes.
    ///   - marks: drawn over each row; nil for none.
    init(
        _ plan: PlannedRendition, planes: Int, colour: PhotoColour, marks: (any RowMarks)?,
        to encoder: any RowEncoder
    ) {
        self.plan = plan
        self.encoder = encoder
        self.marks = marks
        sourcePlanes = planes
        let size = plan.placement.size
        reduced = ScratchRow(width: plan.placement.shown.width, planes: planes)
        room = reduced.row
        whole = ScratchRow(width: size.width, planes: plan.planes)
        sharpening = RowSharpening(
            RowFormat(
                width: plan.placement.shown.width, height: plan.placement.shown.height,
                planes: planes), strength: plan.rendition.sharpness)
        program = PixelProgram(
            source: .init(sample: .planes, bands: plan.planes), filters: [], target: plan.codes,
            height: size.height, colour: colour, background: plan.output.background)
        codes = .allocate(byteCount: size.width * plan.codes.pixelBytes, alignment: 16)
        hashed =
            plan.rendition.hashes.isEmpty
            ? nil
            : HashReducer(
                size, to: HashedPicture.size(of: size), bands: plan.codes.bands,
                bits: plan.codes.sample == .encoded8 ? 8 : 16)
    }

    deinit { codes.deallocate() }

    /// Bytes that the rows of a rendition take, without its encoder.
    static func bytes(of plan: PlannedRendition) -> Int {
        let width = plan.placement.size.width
        let rows = 2 + (plan.rendition.sharpness > 0 ? RowSharpening.rows + 2 : 0)
        return rows * (width + 32) * plan.planes * MemoryLayout<Float>.stride
            + width * plan.codes.pixelBytes
    }

    func take() throws(Failure) {
        guard failure == nil else { return }
        do throws(Failure) {
            if y == 0 { try addCanvas(plan.placement.top) }
            guard let sharpening else { return try place(room) }
            try sharpening.add(room, place)
        } catch {
            guard !plan.rendition.isRequired else { throw plan.named(error) }
            failure = error
        }
    }

    /// Takes the rows below the picture, and ends the encoder's part of the file.
    func finish() throws(Failure) {
        if let failure { throw failure }
        try addCanvas(plan.placement.size.height - y)
        try encoder.finish()
    }

    /// The hashes of the rendition, after all rows; nil if none is asked for.
    var hashes: [String: String]? { hashed?.picture.hashes(plan.rendition.hashes) }

    private func addCanvas(_ rows: Int) throws(Failure) {
        for _ in 0..<rows {
            fillCanvas(0..<plan.placement.size.width)
            try encode(whole.row)
        }
    }

    private func place(_ row: PlanarRow) throws(Failure) {
        let (left, width) = (plan.placement.left, plan.placement.shown.width)
        guard plan.placement.hasCanvas || plan.planes > sourcePlanes else {
            return try encode(row)
        }
        for plane in 0..<sourcePlanes {
            (whole.row[plane] + left).update(from: row[plane], count: width)
        }
        if plan.planes > sourcePlanes {
            (whole.row[3] + left).update(repeating: 1, count: width)
        }
        fillCanvas(0..<left)
        fillCanvas(left + width..<plan.placement.size.width)
        try encode(whole.row)
    }

    /// Fills columns with the background, or with nothing if there is none and the format has alpha.
    private func fillCanvas(_ columns: Range<Int>) {
        guard !columns.isEmpty else { return }
        let isClear = plan.planes == 4 && plan.rendition.output.background == nil
        let ground = plan.output.background
        let light = [ground.red, ground.green, ground.blue].map {
            isClear ? 0 : Float(ToneCurve.sRGB.linear($0))
        }
        for plane in 0..<plan.planes {
            (whole.row[plane] + columns.lowerBound).update(
                repeating: plane < 3 ? light[plane] : isClear ? 0 : 1, count: columns.count)
        }
    }

    private func encode(_ row: PlanarRow) throws(Failure) {
        marks?.draw(on: row, y: y)
        guard let start = codes.baseAddress else { return }
        program.run(
            UnsafeMutableRawPointer(row.start), at: (0, y),
            count: plan.placement.size.width, into: start, stride: row.stride)
        y += 1
        hashed?.add(UnsafeRawBufferPointer(codes))
        try encoder.append(UnsafeRawBufferPointer(codes))
    }
}

/// Pictures and texts that are drawn over a rendition, row by row from the top.
protocol RowMarks: AnyObject {
    /// Draws over a row of the rendition: linear sRGB light, multiplied by alpha, in three planes or in four with alpha.
    ///
    /// - Parameter y: the row, from the top of the rendition, canvas included. Rows come in their order, each once.
    func draw(on row: PlanarRow, y: Int)
}

/// Sharpens luminance: an unsharp mask in linear light, limited to the darkest and brightest of the 3 × 3 pixels around, so that no edge gets
/// a halo.
///
/// Strength s: σ = 0.5 + 0.3 s pixels, amount 0.8 s. The channels are multiplied by one factor, so that hues stay.
final class RowSharpening {
    private let format: RowFormat
    private let amount: Float
    /// The Gaussian from its middle on.
    private let weights: [Float]
    private let memory: UnsafeMutablePointer<Float>
    private let stride: Int
    private let scratch: ScratchRow
    private let out: ScratchRow
    private var taken = 0, made = 0

    /// Pixels to each side that are read: more than 3.5 σ.
    private static let reach = 3
    /// Rows that are kept.
    static let rows = 2 * reach + 1

    /// - Returns: nil for a strength of 0.
    init?(_ format: RowFormat, strength: Double) {
        guard strength > 0 else { return nil }
        self.format = format
        amount = Float(0.8 * strength)
        let sigma = 0.5 + 0.3 * strength
        let raw = (0...Self.reach).map { Gauss.weight(Double($0) / sigma) }
        let sum = raw[0] + 2 * raw.dropFirst().reduce(0, +)
        weights = raw.map { Float($0 / sum) }
        stride = (format.width + 2 * Self.reach + RowFormat.block + 15) & ~15
        // The planes of the picture, and its luminance.
        memory = RowMemory.zeros(Self.rows * (format.planes + 1) * stride)
        scratch = ScratchRow(width: format.width + 2 * Self.reach, planes: 3)
        out = ScratchRow(width: format.width, planes: format.planes)
    }

    deinit { RowMemory.free(memory) }

    /// The kept row that is nearest to a row; its first sample is that of column 0.
    private func row(_ y: Int) -> PlanarRow {
        let y = min(max(y, 0), format.height - 1)
        return PlanarRow(
            start: memory + y % Self.rows * (format.planes + 1) * stride + Self.reach,
            stride: stride)
    }

    /// Takes the next row, and hands on those that can be made by now.
    func add(
        _ light: PlanarRow, _ use: (PlanarRow) throws(Failure) -> Void
    ) throws(Failure) {
        let kept = row(taken)
        for plane in 0..<format.planes {
            kept[plane].update(from: light[plane], count: format.width)
        }
        let luminance = kept[format.planes]
        let (red, green, blue) = (kept[0], kept[1], kept[2])
        for x in 0..<format.width {
            luminance[x] = 0.2126 * red[x] + 0.7152 * green[x] + 0.0722 * blue[x]
        }
        for margin in 1...Self.reach {
            luminance[-margin] = luminance[0]
            luminance[format.width - 1 + margin] = luminance[format.width - 1]
        }
        taken += 1
        while made < format.height, taken > made + Self.reach || taken == format.height {
            make()
            try use(out.row)
            made += 1
        }
    }

    private func make() {
        let plane = format.planes
        let width = format.width
        let rows = (-Self.reach...Self.reach).map { row(made + $0)[plane] - Self.reach }
        let (sums, least, most) = (scratch.row[0], scratch.row[1], scratch.row[2])
        let (above, middle, below) = (
            rows[Self.reach - 1], rows[Self.reach], rows[Self.reach + 1]
        )
        for x in 0..<width + 2 * Self.reach {
            sums[x] = weights[0] * middle[x]
            let lower = above[x] < below[x] ? above[x] : below[x]
            let upper = above[x] < below[x] ? below[x] : above[x]
            least[x] = lower < middle[x] ? lower : middle[x]
            most[x] = upper > middle[x] ? upper : middle[x]
        }
        for distance in 1...Self.reach {
            let weight = weights[distance]
            let (first, second) = (rows[Self.reach - distance], rows[Self.reach + distance])
            for x in 0..<width + 2 * Self.reach { sums[x] += weight * (first[x] + second[x]) }
        }
        let source = row(made)
        for plane in 3..<max(3, format.planes) {
            out.row[plane].update(from: source[plane], count: width)
        }
        let (w0, w1, w2, w3) = (weights[0], weights[1], weights[2], weights[3])
        for x in 0..<width {
            let m = x + Self.reach
            let blurred =
                w0 * sums[m] + w1 * (sums[m - 1] + sums[m + 1]) + w2 * (sums[m - 2] + sums[m + 2])
                + w3 * (sums[m - 3] + sums[m + 3])
            let light = middle[m]
            let sharp = light + amount * (light - blurred)
            let lower = min(least[m - 1], least[m], least[m + 1])
            let upper = max(most[m - 1], most[m], most[m + 1])
            let limited = min(max(sharp, lower), upper)
            // Black stays black; Lanczos may make light below it.
            let factor = light > Self.dark ? limited / light : 1
            out.row[0][x] = source[0][x] * factor
            out.row[1][x] = source[1][x] * factor
            out.row[2][x] = source[2][x] * factor
        }
    }

    /// Light of half a code of 8 bits in sRGB, below which nothing is sharpened.
    private static let dark: Float = 0.00015
}

private enum Gauss {
    static func weight(_ x: Double) -> Double { exp(-0.5 * x * x) }
}
