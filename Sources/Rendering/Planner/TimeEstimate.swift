import Codecs
import Edits
import RenderProtocol

/// An estimate of a render's processor time by its header and plan, within a factor of two for most.
///
/// The numbers are milliseconds per megapixel on a Zen 4 core with a release build, from the measurements of ``MemoryEstimate``.
enum TimeEstimate {
    private static let start = 0.03
    /// The time by lane, with decoding and encoding a JPEG.
    private static let lanes: [RenderPlan.Lane: Double] = [
        .copy: 0.5, .metadata: 0.5, .lossless: 6, .planes: 7, .stream: 9, .spool: 12,
    ]
    /// The additional time to decode another format than JPEG.
    private static let decoders: [PhotoFormat: Double] = [
        .png: 20, .tiff: 10, .webp: 20, .heif: 40, .jxl: 60, .gif: 10, .raw: 250,
    ]
    /// The additional time to encode another format than JPEG, at the default quality; for TIFF per three bytes of a pixel.
    private static let encoders: [Recipe.Format: Double] = [
        .png: 20, .tiff: 20, .webp: 45, .heic: 110, .avif: 90, .jxl: 70,
    ]
    private static let patience: [Recipe.Format: Double] = [.png: 16, .tiff: 4]

    private static let frames = 14.0
    private static let tiles = 11.0
    /// The additional time for a JPEG of several scans, and for one of CMYK.
    private static let scans = 15.0, inks = 60.0

    static func seconds(of shape: Shape) -> Double {
        let photo = Double(shape.photo.storedSize.pixels) / 1e6
        let edited = Double(shape.edited.storedSize.pixels) / 1e6
        let result = Double(shape.size.pixels) / 1e6
        var milliseconds = (lanes[shape.lane] ?? 0) * photo
        if shape.photo.format == .jpeg, shape.photo.isDecodedWhole {
            milliseconds += scans * photo
        }
        if !shape.lane.keepsFile, shape.lane != .lossless {
            let computes = shape.lane != .planes
            for pass in shape.passes {
                milliseconds += Self.milliseconds(of: pass, computes) * edited
            }
        }
        if [.planes, .stream, .spool].contains(shape.lane) {
            let isHEVC = shape.photo.isTiledHEIF || shape.lane == .planes
            let decoding =
                shape.photo.format == .heif && isHEVC ? tiles : decoders[shape.photo.format]
            milliseconds += (decoding ?? 0) * photo
            if let movie = shape.photo.movie {
                // All frames of a part: the shown frame may be its last one.
                milliseconds += frames * Double(movie.frames / movie.segments + 1) * photo
            }
        }
        if shape.lane == .stream || shape.lane == .spool {
            // A conversion by an ICC profile.
            if shape.photo.format == .jpeg, shape.photo.bands == 4 { milliseconds += inks * photo }
            let bytes = shape.output.format == .tiff ? Double(shape.encodedBytes) / 3 : 1
            milliseconds += encoder(of: shape.output) * bytes * result
            if shape.output.bitDepth != .eight { milliseconds += 40 * result }
        }
        return start + milliseconds / 1000
    }

    /// Returns the time to encode a rendition.
    static func seconds(encoding output: OutputPlan, _ size: PixelSize) -> Double {
        (jpegEncoder + encoder(of: output)) * Double(size.pixels) / 1e9
    }

    /// The part of a lane's time that encodes a JPEG, and with it the last reduction of a rendition.
    private static let jpegEncoder = 12.0

    private static func encoder(of output: OutputPlan) -> Double {
        let usual = encoders[output.format] ?? 0
        return switch output.compression {
        case .uncompressed: 0
        case .small: usual * (patience[output.format] ?? 1)
        case .fast, nil: usual
        }
    }

    /// Returns the time of a pass over a megapixel.
    ///
    /// - Parameter computes: whether position-dependent filters are computed for each pixel; the planes lane looks them up.
    static func milliseconds(of pass: Pass, _ computes: Bool = true) -> Double {
        switch pass {
        case .pixels: return computes && !pass.isPositionIndependent ? 20 : 3
        case .neighbourhood: return 12
        case .geometry(let geometry):
            return switch geometry.kind {
            case .identity, .crop, .turn: 1
            case .scale: 8
            case .warp: 20
            }
        }
    }
}

/// The input of the estimates: header and plan of a render.
struct Shape: Sendable {
    let photo: PhotoHeader
    /// The header of the picture that is edited: the photo, or a small copy of it.
    let edited: PhotoHeader
    let passes: [Pass]
    let lane: RenderPlan.Lane
    let size: PixelSize
    let output: OutputPlan
    let room: MemoryRoom
    /// The layout in which rows come to the encoder if they are light, for renditions; nil for codes.
    var light: PixelProgram.Layout?

    /// Returns the samples per pixel that a JPEG of this chroma sampling stores.
    static func samples(_ chroma: Recipe.Chroma?, bands: Int) -> Double {
        switch chroma {
        case .half: 1.5
        case .halfColumns: 2
        case .full, nil: Double(bands)
        }
    }

    /// Bytes of a decoded pixel.
    var decodedBytes: Int { photo.bands * photo.bitsPerSample / 8 }
    /// Bytes of a pixel before encoding.
    var encodedBytes: Int { (output.keepsAlpha ? 4 : 3) * (output.bitDepth == .eight ? 1 : 2) }
    /// Bytes of a pixel of the last rows.
    var resultBytes: Int { light?.pixelBytes ?? encodedBytes }
    /// Bytes of the coefficients of the photo as a JPEG.
    var coefficientBytes: Int {
        Int(2 * Self.samples(photo.chroma, bands: photo.bands) * Double(photo.storedSize.pixels))
    }
}

extension PhotoHeader {
    var isTiledHEIF: Bool { format == .heif && !isDecodedWhole }
}

extension RenderEstimate {
    /// Estimates the resources that a render is likely to need.
    init(of shape: Shape) {
        self.init(
            memoryBytes: MemoryEstimate(of: shape).bytes,
            spoolBytes: SpoolEstimate.bytes(
                of: shape, memoryMax: shape.room.keptBytesMax),
            cpuSeconds: TimeEstimate.seconds(of: shape))
    }
}

/// The data that a render keeps because it needs them in another order than they arrive: the requests of ``PassRunner`` and of the
/// JPEG lanes, computed only from header and plan.
enum SpoolEstimate {
    /// Kept data, in memory or in a spool file.
    struct Kept: Equatable {
        /// Bytes of its pixels: its size in memory.
        let pixelBytes: Int
        let tiles: [TileLayout]

        /// Bytes on the disk.
        func spoolBytes(memoryMax: Int) -> Int {
            pixelBytes > memoryMax ? tiles.reduce(0) { $0 + $1.wholePages } : 0
        }

        /// Bytes on the heap.
        func memoryBytes(memoryMax: Int) -> Int {
            pixelBytes > memoryMax
                ? tiles.reduce(0) { $0 + TileSpool.memoryBytes(of: $1) } : pixelBytes
        }
    }

    /// Returns the bytes on the disk.
    ///
    /// - Parameter memoryMax: data of up to this many bytes stay in memory.
    static func bytes(of shape: Shape, memoryMax: Int) -> Int {
        kept(of: shape).reduce(0) { $0 + $1.spoolBytes(memoryMax: memoryMax) }
    }

    /// Returns all kept data. Coefficients of a JPEG of several scans are included, and stay in memory at any size.
    static func kept(of shape: Shape) -> [Kept] {
        let (passes, header) = (shape.passes, shape.edited)
        let layout = JPEGLayout(header)
        switch shape.lane {
        case .copy, .metadata, .stream: return []
        case .lossless:
            let tiles = CoefficientSpool.tiles(of: layout, turn(of: passes))
            return [Kept(pixelBytes: 2 * JPEGPlanes.byteCount(layout), tiles: tiles)]
        case .planes where header.format == .heif: return []
        case .planes:
            let turn = turn(of: passes)
            guard turn.transposes || turn.flips else { return [] }
            return [
                Kept(
                    pixelBytes: JPEGPlanes.byteCount(layout),
                    tiles: PlanesSpool.tiles(of: layout, turn))
            ]
        case .spool:
            return tiles(of: shape).map {
                Kept(pixelBytes: $0.width * $0.height * $0.pixelBytes, tiles: [$0])
            }
        }
    }

    /// Returns the turn of a JPEG, which may be cropped before.
    private static func turn(of passes: [Pass]) -> JPEGTurn {
        let turns = Planner.geometry(of: passes)?.steps.compactMap { step -> Orientation? in
            if case .turn(let turn) = step.kind { turn } else { nil }
        }
        return JPEGTurn(orientation: turns?.first?.rawValue ?? 1)
    }

    /// Returns the layouts of pictures that are computed before they are read in another order, in memory or in a file.
    private static func tiles(of shape: Shape) -> [TileLayout] {
        let (passes, header, output) = (shape.passes, shape.edited, shape.output)
        let codeBytes = header.bitsPerSample <= 8 ? 1 : 2
        let resultBytes = shape.resultBytes
        let lightBytes = 4 * (header.hasAlpha || output.keepsAlpha ? 4 : 3)
        // Bytes of a pixel between two passes: of the photo's codes, then of light, and at the end of the result's codes.
        var pixelBytes = codeBytes * min(header.bands, 4)
        var tiles: [TileLayout] = []
        for step in PassStep.steps(of: passes) {
            switch step.action {
            case .move(let geometry):
                if !step.filters.isEmpty { pixelBytes = step.isLast ? resultBytes : lightBytes }
                if case .turn(let turn) = geometry.kind, let reader = turn.reader {
                    tiles.append(.init(geometry.source, pixelBytes, reader))
                }
            case .rows(let passes):
                if case .geometry(let geometry)? = passes.first, !Planner.streams(geometry) {
                    if geometry.shrink != (1, 1) { pixelBytes = lightBytes }
                    tiles.append(
                        .init(geometry.source.shrunk(geometry.shrink), pixelBytes, .squares))
                }
                pixelBytes = step.isLast ? resultBytes : lightBytes
            case .codes: break
            }
        }
        return tiles
    }
}

extension PixelSize {
    fileprivate func shrunk(_ shrink: (columns: Int, rows: Int)) -> PixelSize {
        PixelSize(
            width: (width + shrink.columns - 1) / shrink.columns,
            height: (height + shrink.rows - 1) / shrink.rows)
    }
}

extension TileLayout {
    fileprivate init(_ size: PixelSize, _ pixelBytes: Int, _ reader: Reader) {
        self.init(width: size.width, height: size.height, pixelBytes: pixelBytes, for: reader)
    }
}

extension JPEGLayout {
    /// Creates the layout of a stored JPEG, as far as its header contains it. Rare samplings count as 4:4:4, which is larger.
    fileprivate init(_ header: PhotoHeader) {
        let luma =
            switch header.chroma {
            case .half: Sampling(2, 2)
            case .halfColumns: Sampling(2, 1)
            case .full, nil: Sampling(1, 1)
            }
        let isColour = header.bands == 3
        let others = [Sampling](repeating: Sampling(1, 1), count: max(0, header.bands - 1))
        self.init(
            width: header.storedSize.width, height: header.storedSize.height,
            colour: isColour ? .ycbcr : .unknown,
            sampling: [isColour ? luma : others.first ?? luma] + others)
    }
}
