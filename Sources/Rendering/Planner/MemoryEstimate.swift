import Adjustments
import Filters
import RenderProtocol

/// How much memory a render needs at its peak: the resident set of the child, by header and plan alone.
///
/// It is the sum of what stands in memory at the same time: the process, what a decoder and an encoder keep,
/// rows between the passes, and pictures that are needed in any order. Sizes are computed where the code
/// says them; what libraries keep is measured: ops/bench/ESTIMATE.md has the table and how it was fitted.
struct MemoryEstimate {
    /// Highest resident set.
    private(set) var bytes = Self.base

    /// The process with libvips, its decoders and what the photos before it have left.
    private static let base = 52 << 20
    /// What a lane's own code and small buffers add.
    private static let code = 2 << 20
    /// Results of colours that were computed, for a word each, and by which place they are.
    private static let memo = (words: 8 << 20, places: 1 << 20)
    /// Bytes of a pixel that a decoder holds which makes the picture as a whole: of 8 bits, and of more.
    private static let decoders: [PhotoFormat: (eight: Double, more: Double)] = [
        .heif: (7, 13.5), .webp: (8.5, 8.5), .jxl: (7, 14), .gif: (5, 5), .raw: (20, 20),
    ]
    /// The same of encoders, and what they need for a picture of any size: threads and tables.
    private static let encoders: [Recipe.Format: (once: Int, eight: Double, more: Double)] = [
        .webp: (0, 6.3, 6.3), .heic: (18 << 20, 17, 44), .avif: (18 << 20, 24, 51),
        .jxl: (8 << 20, 43, 50),
    ]

    private let shape: Shape
    private var width: Int
    private var height: Int
    /// Bytes of a pixel between two passes.
    private var pixelBytes: Int
    /// Whether filters of single pixels wait for the next program.
    private var isWaiting = false

    init(of shape: Shape) {
        self.shape = shape
        (width, height) = (shape.edited.storedSize.width, shape.edited.storedSize.height)
        pixelBytes = shape.decodedBytes
        addKept()
        switch shape.lane {
        case .copy: break
        case .lossless: bytes += Self.code
        case .planes: addPlanes()
        case .stream, .spool:
            bytes += Self.code
            addDecoder()
            addPasses()
            addEncoder()
        }
    }

    /// What is kept because it is needed in another order; of what goes to a spool file, the band that is written
    /// and the columns that are read.
    private mutating func addKept() {
        let kept = SpoolEstimate.kept(
            of: shape.passes, lane: shape.lane, header: shape.edited, output: shape.output)
        let isInMemory = shape.lane == .lossless && shape.photo.isDecodedWhole
        let memoryMax = isInMemory ? .max : shape.room.keptBytesMax
        for kept in kept {
            bytes += kept.memoryBytes(memoryMax: memoryMax)
            guard kept.pixelBytes > memoryMax else { continue }
            bytes += Self.columnsRead * kept.pixelBytes / max(1, shape.edited.storedSize.width)
        }
    }

    /// Columns of what is spooled that are read together.
    private static let columnsRead = 64

    private mutating func addPlanes() {
        let samples = Shape.samples(shape.output.chroma, bands: 3)
        let planes = Int(samples * Double(shape.photo.storedSize.pixels))
        bytes += Self.code + memoBytes
        if shape.photo.isDecodedWhole { bytes += shape.coefficientBytes }
        if shape.output.progressive { bytes += 2 * planes }
    }

    private var memoBytes: Int {
        let filters = shape.passes.flatMap { pass -> [any PixelFilter] in
            if case .pixels(let pixels) = pass { pixels.map(\.working) } else { [] }
        }
        guard !filters.isEmpty, shape.photo.bitsPerSample == 8 else { return 0 }
        let words = filters.last is any RadialGain && shape.lane == .planes ? 2 : 1
        return shape.room.threads * (Self.memo.places + words * Self.memo.words)
    }

    /// Rows that libvips keeps at a time, by its own formula (vips_get_tile_size and sinkdisc.c, 8.14): tiles for
    /// all threads.
    private var lines: Int { shape.room.tileHeight * ((shape.room.threads * 128 + 999) / 1000) }

    private mutating func addDecoder() {
        let photo = shape.photo
        let pixels = Double(photo.storedSize.pixels)
        if let whole = Self.decoders[photo.format] {
            bytes += Int((photo.bitsPerSample > 8 ? whole.more : whole.eight) * pixels)
        }
        if photo.format == .jpeg, shape.edited.storedSize != photo.storedSize {
            // A small copy is decoded at eighths of the size, at most twice as wide and tall.
            let copy = 3 * min(photo.storedSize.pixels, 4 * shape.edited.storedSize.pixels)
            bytes += min(copy, Photo.memorySpoolBytesMax)
        }
        switch photo.format {
        case .jpeg where photo.isDecodedWhole: bytes += shape.coefficientBytes
        case .png where photo.isDecodedWhole: bytes += Int(pixels) * pixelBytes
        // Of a TIFF in one strip libtiff reads the compressed bytes together: for photos three quarters at most.
        case .tiff where photo.isDecodedWhole: bytes += Int(pixels) * pixelBytes * 3 / 4
        default: break
        }
        // Two rows of tiles or strips, or four times the rows of libvips' own.
        let blocks = photo.isDecodedWhole ? 1 : photo.rowsAtOnce
        bytes += max(2 * blocks, 4 * lines) * photo.storedSize.width * pixelBytes
    }

    /// Adds passes as ``PassRunner`` runs them.
    private mutating func addPasses() {
        bytes += memoBytes
        for (index, pass) in shape.passes.enumerated() {
            let rest = shape.passes[(index + 1)...]
            switch pass {
            case .pixels: isWaiting = true
            case .neighbourhood(_, let filter):
                bytes += RowMemory.bytes(
                    of: filter,
                    on: RowFormat(width: width, height: height, planes: lightBytes / 4))
                width += 2 * filter.growth.columns
                height += 2 * filter.growth.rows
                run(toPixelBytes: shape.encodedBytes)
            case .geometry(let geometry):
                if geometry.isLossless, isWaiting {
                    run(
                        toPixelBytes: rest.allSatisfy(\.isLossless)
                            ? shape.encodedBytes : lightBytes)
                }
                add(geometry, before: rest.first)
            }
        }
        if isWaiting || pixelBytes != shape.encodedBytes { run(toPixelBytes: shape.encodedBytes) }
    }

    /// Linear light, with alpha where there may be some.
    private var lightBytes: Int { shape.photo.hasAlpha || shape.output.keepsAlpha ? 16 : 12 }

    /// A program of pixels, or rows of filters, from one kind of pixel to another.
    private mutating func run(toPixelBytes after: Int) {
        bytes += lines * width * (pixelBytes + after)
        pixelBytes = after
        isWaiting = false
    }

    private mutating func add(_ geometry: Geometry, before next: Pass?) {
        switch geometry.kind {
        case .identity: break
        case .crop: bytes += 2 * (shape.room.threads + 1) * lines * width * pixelBytes
        case .turn(let turn): bytes += turn == .mirrored ? 0 : 2 * lines * height * pixelBytes
        case .scale: scale(geometry)
        case .warp: warp(geometry, before: next)
        }
        (width, height) = (geometry.size.width, geometry.size.height)
    }

    private mutating func scale(_ geometry: Geometry) {
        run(toPixelBytes: lightBytes)
        let shrink = geometry.shrink
        // Blocks that are shrunk, rows that are kept of the result, and those that the kernel looks at.
        let tall = shrink.rows > 1 ? (2 * lines + 4 * shrink.rows) * width : 0
        let reach = max(1, height / shrink.rows / max(1, geometry.size.height))
        bytes += (tall + (4 + 2 * reach) * lines * (width / shrink.columns)) * lightBytes
    }

    private mutating func warp(_ geometry: Geometry, before next: Pass?) {
        let shrink = geometry.shrink
        if shrink != (1, 1) { run(toPixelBytes: lightBytes) }
        (width, height) = (width / shrink.columns, height / shrink.rows)
        let window = (geometry.streamingRows ?? height) + Self.slackRows
        if Planner.streams(geometry) { bytes += 3 * window * width * pixelBytes }
        // Filters of rows ask for whole rows of what is otherwise made in squares.
        if case .neighbourhood? = next {
            bytes += 3 * min(window, height) * width * lightBytes
        }
        (pixelBytes, isWaiting) = (lightBytes, false)
    }

    /// Rows beside the window of a warp: what the kernel looks at, and what is rounded.
    private static let slackRows = 32

    /// Rows of a strip that libvips writes in a TIFF (its default of `tile_height`), as they are and as libtiff
    /// compresses them, and a tenth for the case that they do not get smaller (TIFFWriteBufferSetup).
    private static let stripRows = 2 * 128 * 11 / 10

    private mutating func addEncoder() {
        let pixels = Double(shape.size.pixels)
        let rows = shape.output.format == .tiff ? 2 * lines + Self.stripRows : 2 * lines
        bytes += min(rows, shape.size.height) * shape.size.width * shape.encodedBytes
        if let whole = Self.encoders[shape.output.format] {
            let pixel = shape.output.bitDepth == .eight ? whole.eight : whole.more
            bytes += whole.once + Int(pixel * pixels)
        }
        guard shape.output.progressive else { return }
        let samples = Shape.samples(shape.output.chroma, bands: 3)
        bytes +=
            shape.output.format == .jpeg
            ? Int(2 * samples * pixels) : Int(pixels) * shape.encodedBytes
    }
}
