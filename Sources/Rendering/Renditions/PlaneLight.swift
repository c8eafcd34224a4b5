import Codecs
import Edits
import Filters

/// Makes rows of linear light of planes of luma and chroma that are ready to be encoded.
///
/// Chroma of half the resolution is interpolated as libjpeg-turbo does it ("fancy" upsampling: ¾ of the nearer sample, ¼ of the other one), so
/// the light is that of the finished JPEG before it is quantised.
final class PlaneLight {
    private let layout: JPEGLayout
    private let sink: any LightSink
    private let light: [Table<Float>]
    private let toWorking: ColourMatrix?
    private let across, down: Int
    private let chromaWidth: Int
    /// The row of luma that waits for the chroma below it, and the chroma beside it.
    private let waiting: UnsafeMutablePointer<UInt8>
    private let last: (blue: UnsafeMutablePointer<UInt8>, red: UnsafeMutablePointer<UInt8>)
    /// Chroma between its rows, in quarters, and then between its columns.
    private let sums: UnsafeMutablePointer<Int32>
    private let chroma: UnsafeMutablePointer<Int32>
    private let codes: UnsafeMutablePointer<Int32>
    private let paddedWidth: Int
    private var chromaRow = 0
    private var made = 0

    /// - Parameters:
    ///   - layout: of luma, blue and red.
    ///   - colour: the meaning of the codes of red, green and blue.
    init(_ layout: JPEGLayout, _ colour: PhotoColour, into sink: any LightSink) {
        self.layout = layout
        self.sink = sink
        light = ColourTables(colour).linear8
        toWorking = colour.toWorking
        (across, down) = (layout.sampling[0].horizontal, layout.sampling[0].vertical)
        chromaWidth = (layout.width + across - 1) / across
        paddedWidth = chromaWidth * across
        waiting = .allocate(capacity: layout.width)
        waiting.initialize(repeating: 0, count: layout.width)
        last = (.allocate(capacity: chromaWidth), .allocate(capacity: chromaWidth))
        last.blue.initialize(repeating: 0, count: chromaWidth)
        last.red.initialize(repeating: 0, count: chromaWidth)
        sums = .allocate(capacity: chromaWidth + 2)
        sums.initialize(repeating: 0, count: chromaWidth + 2)
        chroma = .allocate(capacity: 2 * paddedWidth)
        chroma.initialize(repeating: 0, count: 2 * paddedWidth)
        codes = .allocate(capacity: 3 * layout.width)
        codes.initialize(repeating: 0, count: 3 * layout.width)
    }

    deinit {
        waiting.deallocate()
        last.blue.deallocate()
        last.red.deallocate()
        sums.deallocate()
        chroma.deallocate()
        codes.deallocate()
    }

    /// Adds a row of MCUs.
    func add(_ planes: JPEGPlanes, mcuRow: Int) throws(Failure) {
        let (luma, blue, red) = (planes.planes[0], planes.planes[1], planes.planes[2])
        for row in 0..<blue.mcuHeight where down * chromaRow < layout.height {
            try add(
                blue.row(row, of: mcuRow), red.row(row, of: mcuRow),
                luma: luma.row(row * down, of: mcuRow), stride: luma.stride)
            chromaRow += 1
        }
        guard made < layout.height, down * chromaRow >= layout.height else { return }
        try make(waiting, near: last, far: last, isLower: true)
    }

    private typealias Chroma = (blue: UnsafeMutablePointer<UInt8>, red: UnsafeMutablePointer<UInt8>)

    private func add(
        _ blue: UnsafeMutablePointer<UInt8>, _ red: UnsafeMutablePointer<UInt8>,
        luma: UnsafeMutablePointer<UInt8>, stride: Int
    ) throws(Failure) {
        let here: Chroma = (blue, red)
        guard down == 2 else { return try make(luma, near: here, far: here, isLower: false) }
        if chromaRow > 0 { try make(waiting, near: last, far: here, isLower: true) }
        try make(luma, near: here, far: chromaRow > 0 ? last : here, isLower: false)
        waiting.update(from: luma + stride, count: layout.width)
        last.blue.update(from: blue, count: chromaWidth)
        last.red.update(from: red, count: chromaWidth)
    }

    /// - Parameter isLower: whether the row is the lower one of two that share chroma, whose quarters are rounded up.
    private func make(
        _ luma: UnsafePointer<UInt8>, near: Chroma, far: Chroma, isLower: Bool
    ) throws(Failure) {
        guard made < layout.height else { return }
        made += 1
        let (blues, reds) = (chroma, chroma + paddedWidth)
        upsample(near.blue, far.blue, isLower, into: blues)
        upsample(near.red, far.red, isLower, into: reds)
        let width = layout.width
        let (r, g, b) = (codes, codes + width, codes + 2 * width)
        // The equations of JFIF in multiples of 2⁻¹⁶, as libjpeg has them.
        for x in 0..<width {
            let y = Int32(luma[x]) &<< 16 &+ 1 &<< 15
            let (u, v) = (blues[x] &- 128, reds[x] &- 128)
            r[x] = Self.code(y &+ v &* 91_881)
            g[x] = Self.code(y &- u &* 22_554 &- v &* 46_802)
            b[x] = Self.code(y &+ u &* 116_130)
        }
        let room = sink.room
        for plane in 0..<3 {
            let (table, codes, target) = (light[plane].values, codes + plane * width, room[plane])
            for x in 0..<width { target[x] = table[Int(truncatingIfNeeded: codes[x])] }
        }
        if let toWorking {
            withUnsafeTemporaryAllocation(of: Float.self, capacity: PixelChunk.capacity) { ones in
                guard let alpha = ones.baseAddress else { return }
                alpha.update(repeating: 1, count: PixelChunk.capacity)
                for left in stride(from: 0, to: width, by: PixelChunk.capacity) {
                    PixelChunk(
                        count: min(PixelChunk.capacity, width - left), red: room[0] + left,
                        green: room[1] + left, blue: room[2] + left, alpha: alpha
                    ).multiply(by: toWorking)
                }
            }
        }
        try sink.take()
    }

    @inline(__always)
    private static func code(_ parts: Int32) -> Int32 {
        let code = parts &>> 16
        let above = code > 0 ? code : 0
        return above < 255 ? above : 255
    }

    private func upsample(
        _ near: UnsafePointer<UInt8>, _ far: UnsafePointer<UInt8>, _ isLower: Bool,
        into out: UnsafeMutablePointer<Int32>
    ) {
        let count = chromaWidth
        guard across == 2 else {
            if down == 1 {
                for x in 0..<count { out[x] = Int32(near[x]) }
            } else {
                let half: Int32 = isLower ? 2 : 1
                for x in 0..<count {
                    out[x] = (3 &* Int32(near[x]) &+ Int32(far[x]) &+ half) &>> 2
                }
            }
            return
        }
        let middle = sums + 1
        let (bits, left, right): (Int32, Int32, Int32) = down == 2 ? (4, 8, 7) : (2, 1, 2)
        if down == 2 {
            for x in 0..<count { middle[x] = 3 &* Int32(near[x]) &+ Int32(far[x]) }
        } else {
            for x in 0..<count { middle[x] = Int32(near[x]) }
        }
        (middle[-1], middle[count]) = (middle[0], middle[count - 1])
        for x in 0..<count {
            let here = 3 &* middle[x]
            out[2 &* x] = (here &+ middle[x &- 1] &+ left) &>> bits
            out[2 &* x &+ 1] = (here &+ middle[x &+ 1] &+ right) &>> bits
        }
    }
}

/// Encodes planes and makes renditions of them, or does one of both.
final class FanningSink: PlaneSink {
    private let encoder: (any PlaneSink)?
    private let light: PlaneLight?

    init(_ encoder: (any PlaneSink)?, _ light: PlaneLight?) {
        (self.encoder, self.light) = (encoder, light)
    }

    func writePlanes(_ planes: JPEGPlanes, mcuRow: Int) throws {
        try encoder?.writePlanes(planes, mcuRow: mcuRow)
        try light?.add(planes, mcuRow: mcuRow)
    }

    func finish() throws { try encoder?.finish() }
}
