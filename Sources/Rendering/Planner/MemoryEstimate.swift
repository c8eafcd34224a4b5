import Edits
import Filters
import Codecs
import RenderProtocol

/// An estimate of the memory that a render needs at its peak: the resident set of the child, computed only from header and plan.
///
/// It is the sum of the memory in use at the same time: the process, the buffers of decoder and encoder, rows between the passes,
/// and pictures that are needed in any order. Sizes that our code determines are computed; sizes that libraries determine are
/// measured. ops/bench/ESTIMATE.md has the table and explains the fit.
struct MemoryEstimate {
    private(set) var bytes = Self.base

    /// The process with libvips, its decoders, libavcodec and the leftovers of earlier photos, without the memo of colours.
    private static let base = 37 << 20
    /// The size of a lane's own code and small buffers.
    private static let code = 2 << 20
    /// Bytes per thread beside its tiles, measured with 16 threads.
    private static let thread = 384 << 10
    /// The memo of colours: results per word of a colour, and the index.
    private static let memo = (words: 8 << 20, index: 1 << 20)
    /// Bytes that a decoder of HEVC tiles keeps: some frames of a tile, and tables.
    private static let tileDecoder = 4 << 20
    /// Bytes per sample of a single-piece HEIC in planes: the decoded picture, the upright picture, and its coded bytes.
    private static let wholePlanes = 2.8
    /// Bytes that libtiff and libvips' code around it keep.
    private static let tiffDecoder = 4 << 20
    /// Bytes per pixel that a whole-picture decoder holds: for 8 bits, for more, and what alpha of more takes beyond that.
    private static let decoders: [PhotoFormat: (eight: Double, more: Double, alpha: Double)] = [
        .heif: (7, 14.5, 0), .webp: (8.5, 8.5, 0), .gif: (5, 5, 0), .raw: (20, 20, 0),
        // libjxl 0.7 holds channels of 16 bits as 32, and hands them out as 32: 20 to 24 bytes with 2, 8, 12 and 24 megapixels. With
        // alpha it takes 31 bytes of a lossless one, and 50 of a lossy one; the header does not tell which it is.
        .jxl: (7, 25, 27),
        // A decoder's twenty frames, and the shown frame in red, green and blue.
        .movie: (33, 66, 0),
    ]
    /// Bytes per pixel that a whole-picture encoder holds, the size-independent part (threads and tables), and what alpha takes beyond
    /// it: with 9.7 megapixels 13.4 to 14.1 bytes a pixel of a WebP and 15 to 20 of a JPEG XL.
    private static let encoders:
        [Recipe.Format: (once: Int, eight: Double, more: Double, alpha: Double)] = [
            .webp: (0, 5, 5, 14), .avif: (18 << 20, 30, 51, 0), .jxl: (17 << 20, 43, 50, 20),
        ]

    /// Bytes of the memo of colours that this render uses.
    private var remembered = 0

    private let shape: Shape
    private var width: Int
    private var height: Int
    /// Bytes of a pixel between two passes.
    private var pixelBytes: Int
    /// Whether per-pixel filters are pending for the next program.

    init(of shape: Shape) {
        self.shape = shape
        (width, height) = (shape.edited.storedSize.width, shape.edited.storedSize.height)
        pixelBytes = shape.decodedBytes
        addKept()
        switch shape.lane {
        case .copy, .metadata: break
        case .lossless: bytes += Self.code
        case .planes: addPlanes()
        case .stream, .spool:
            bytes += Self.code
            bytes += (shape.room.threads - 1) * Self.thread
            addDecoder()
            addPasses()
            addEncoder()
        }
        // The memo of the previous recipe is kept until another recipe fills one (``ColourMemoPool``).
        bytes += max(0, Self.memo.index + Self.memo.words - remembered)
    }

    /// Adds pixels that are kept because they are needed in another order. For a spool file, these are the band that is written and
    /// the columns that are read.
    private mutating func addKept() {
        let kept = SpoolEstimate.kept(of: shape)
        let isInMemory = shape.lane == .lossless && shape.photo.isDecodedWhole
        let memoryMax = isInMemory ? .max : shape.room.keptBytesMax
        for kept in kept {
            bytes += kept.memoryBytes(memoryMax: memoryMax)
            guard kept.pixelBytes > memoryMax else { continue }
            bytes += Self.columnsRead * kept.pixelBytes / max(1, shape.edited.storedSize.width)
        }
    }

    /// Columns of a spooled picture that are read together.
    private static let columnsRead = 64

    private mutating func addPlanes() {
        let samples = Shape.samples(shape.output.chroma, bands: 3)
        let planes = Int(samples * Double(shape.photo.storedSize.pixels))
        let filters = shape.passes.flatMap { pass -> [any PixelFilter] in
            if case .pixels(let pixels) = pass { pixels.compactMap(\.working) } else { [] }
        }
        bytes += Self.code
        addMemo(of: filters)
        if shape.output.progressive { bytes += 2 * planes }
        guard shape.photo.format == .heif else {
            if shape.photo.isDecodedWhole { bytes += shape.coefficientBytes }
            return
        }
        // One row of tiles of the result.
        let width = max(shape.photo.storedSize.width, shape.size.width)
        let band = samples * Double(shape.photo.rowsAtOnce * width)
        bytes += Self.tileDecoder + Int(band * (shape.photo.isDecodedWhole ? Self.wholePlanes : 1))
    }

    /// Adds the memo of colours, if each colour is computed once: for programs without position-dependent filters, and for planes.
    private mutating func addMemo(of filters: [any PixelFilter]) {
        let usesPlanes = shape.lane == .planes
        guard !filters.isEmpty, shape.photo.bitsPerSample == 8,
            usesPlanes || !filters.contains(where: \.usesPosition)
        else { return }
        let words = filters.last is any RadialGain && usesPlanes ? 2 : 1
        let bytes = shape.room.threads * (Self.memo.index + words * Self.memo.words)
        remembered += bytes
        self.bytes += bytes
    }

    /// Rows that libvips keeps, by its own formula (vips_get_tile_size and sinkdisc.c, 8.14): tiles for all threads.
    private var lines: Int { shape.room.tileHeight * ((shape.room.threads * 128 + 999) / 1000) }

    /// Rows that libvips' threads work on. Each thread has the regions of its own tile, even if only one thread at a time runs a
    /// chain of rows.
    private var threadLines: Int {
        let (threads, tile) = (shape.room.threads, shape.room.tileHeight)
        return min(threads, (height + tile - 1) / tile) * tile
    }

    /// Returns the bytes that a decoder keeps while rows of a small copy of a JPEG or HEIC are made from it.
    static func decoderBytes(of photo: PhotoHeader) -> Int {
        let samples = Shape.samples(photo.chroma, bands: photo.bands)
        guard photo.format == .heif else {
            return photo.isDecodedWhole ? Int(2 * samples * Double(photo.storedSize.pixels)) : 0
        }
        let band =
            samples * Double(photo.rowsAtOnce * photo.storedSize.width * photo.bitsPerSample / 8)
        return tileDecoder + Int(band * (photo.isDecodedWhole ? wholePlanes : 1))
    }

    private mutating func addDecoder() {
        let photo = shape.photo
        let pixels = Double(photo.storedSize.pixels)
        let isTiled = photo.isTiledHEIF
        if !isTiled, let whole = Self.decoders[photo.format] {
            let more = whole.more + (photo.hasAlpha ? whole.alpha : 0)
            bytes += Int((photo.bitsPerSample > 8 ? more : whole.eight) * pixels)
        }
        if photo.format == .jpeg, shape.edited.storedSize != photo.storedSize {
            // A small copy is decoded at eighths of the size, at most twice as wide and high as needed.
            let copy = 3 * min(photo.storedSize.pixels, 4 * shape.edited.storedSize.pixels)
            bytes += min(copy, Photo.memorySpoolBytesMax)
        }
        switch photo.format {
        case .jpeg where photo.isDecodedWhole: bytes += shape.coefficientBytes
        case .png where photo.isDecodedWhole: bytes += Int(pixels) * pixelBytes
        // For a TIFF in one strip, libtiff reads all compressed bytes: at most three quarters of the pixels for photos.
        case .tiff where photo.isDecodedWhole:
            bytes += Self.tiffDecoder + Int(pixels) * pixelBytes * 3 / 4
        case .tiff: bytes += Self.tiffDecoder
        default: break
        }
        guard !isTiled else {
            // Planes of a row of tiles, alpha included, and rows of the picture.
            let rows = photo.rowsAtOnce + 4 * lines
            bytes += Self.tileDecoder + rows * photo.storedSize.width * pixelBytes
            return
        }
        // Two rows of tiles or strips, or four times libvips' own rows. A YCbCr of JPEG data in one strip took 6.0 bytes a pixel with
        // 12 and 24 megapixels.
        let isByRows = photo.isDecodedWhole && photo.hasWholeBlocks != true
        let blocks = isByRows ? 1 : photo.rowsAtOnce
        bytes += max(2 * blocks, 4 * lines) * photo.storedSize.width * pixelBytes
    }

    /// Adds the passes in the way ``PassRunner`` runs them.
    private mutating func addPasses() {
        for step in PassStep.steps(of: shape.passes) {
            switch step.action {
            case .move(let geometry):
                if !step.filters.isEmpty {
                    runProgram(
                        step.filters, toPixelBytes: step.isLast ? shape.resultBytes : lightBytes)
                }
                add(geometry)
            case .rows(let passes): addRows(passes, step.isLast)
            case .codes:
                if !step.filters.isEmpty || pixelBytes != shape.resultBytes {
                    runProgram(step.filters, toPixelBytes: shape.resultBytes)
                }
            }
        }
    }

    /// Bytes per pixel of linear light, with alpha if there may be some.
    private var lightBytes: Int { shape.photo.hasAlpha || shape.output.keepsAlpha ? 16 : 12 }

    /// Adds a separate pixel program, which may use the memo of colours.
    private mutating func runProgram(_ filters: [Pass.Pixel], toPixelBytes after: Int) {
        addMemo(of: filters.compactMap(\.working))
        run(toPixelBytes: after)
    }

    /// Adds a pixel program, or rows of filters, from one pixel format to another.
    private mutating func run(toPixelBytes after: Int) {
        bytes += max(lines, threadLines) * width * (pixelBytes + after)
        pixelBytes = after
    }

    private mutating func add(_ geometry: Geometry) {
        switch geometry.kind {
        case .crop: bytes += 2 * (shape.room.threads + 1) * lines * width * pixelBytes
        case .turn(let turn): bytes += turn == .mirrored ? 0 : 2 * lines * height * pixelBytes
        case .identity, .scale, .warp: break
        }
        (width, height) = (geometry.size.width, geometry.size.height)
    }

    /// Adds the rows that passes keep. They are allocated for the picture's size.
    private mutating func addRows(_ passes: [Pass], _ isLast: Bool) {
        let planes = shape.photo.hasAlpha || RowPlan.makeAlpha(passes) ? 4 : 3
        let cuts = StageCuts(of: passes, threads: shape.room.threads)
        let photoBytes = width * pixelBytes
        // The rows of the previous picture that each thread but the first reads.
        bytes += (threadLines - shape.room.tileHeight) * photoBytes
        var passes = passes[...]
        if case .geometry(let geometry)? = passes.first, !Planner.streams(geometry) {
            if geometry.shrink != (1, 1) {
                let full = RowFormat(width: width, height: height, planes: planes)
                bytes += BlockMeanRows.bytes(of: full)
                run(toPixelBytes: 4 * planes)
            }
            bytes += WarpedAreas.bytes(geometry, planes: planes)
            (width, height) = (geometry.size.width, geometry.size.height)
            passes = passes.dropFirst()
        }
        let format = RowFormat(width: width, height: height, planes: planes)
        var result = format
        bytes += RowMemory.bytes(on: format) { source in
            let rows = RowPlan.rows(of: Array(passes), from: source)
            result = rows.format
            return rows
        }
        if let cuts {
            bytes += RowStages.bytes(
                cuts: cuts.positions.count, at: format.width > result.width ? format : result,
                photo: photoBytes,
                result: result.width * (isLast ? shape.resultBytes : 4 * planes))
        }
        (width, height) = (result.width, result.height)
        run(toPixelBytes: isLast ? shape.resultBytes : 4 * planes)
    }

    private mutating func addEncoder() {
        bytes += min(2 * lines, shape.size.height) * shape.size.width * shape.encodedBytes
        if shape.light != nil { bytes += 4 * lines * shape.size.width * shape.resultBytes }
        bytes += Self.encoderBytes(shape.output, shape.size, pixelBytes: shape.encodedBytes)
    }

    /// Returns the bytes that an encoder keeps.
    ///
    /// - Parameter pixelBytes: bytes of a pixel that it gets.
    static func encoderBytes(_ output: OutputPlan, _ size: PixelSize, pixelBytes: Int) -> Int {
        let pixels = Double(size.pixels)
        var bytes = 0
        if output.format == .tiff {
            // An uncompressed strip, and its compressed form, which may not be smaller.
            let rowBytes = size.width * pixelBytes
            bytes += 2 * TIFFEncoder.stripRows(rowBytes: rowBytes, height: size.height) * rowBytes
        }
        if output.format == .heic {
            let coding = output.heicCoding
            bytes += HEICPictureEncoder.bytes(width: size.width, coding)
            if output.keepsAlpha {
                bytes += HEICPictureEncoder.bytes(width: size.width, coding.ofLuma)
            }
        }
        if let whole = encoders[output.format] {
            bytes +=
                whole.once + Int((output.bitDepth == .eight ? whole.eight : whole.more) * pixels)
                + (output.keepsAlpha ? Int(whole.alpha * pixels) : 0)
        }
        guard output.progressive else { return bytes }
        let samples = Shape.samples(output.chroma, bands: 3)
        return bytes
            + (output.format == .jpeg ? Int(2 * samples * pixels) : size.pixels * pixelBytes)
    }
}
