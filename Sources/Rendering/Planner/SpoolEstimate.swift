import Edits
import Codecs
import RenderProtocol

/// The data that a render keeps because it needs them in another order than they arrive: the requests of ``PassRunner`` and of the
/// JPEG lanes, computed only from header and plan.
enum SpoolEstimate {
    /// Kept data, in memory or in a spool file.
    struct Kept: Equatable {
        /// Bytes of its pixels: its size in memory.
        let pixelBytes: Int
        /// Its layout in a file.
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
    static func bytes(
        of passes: [Pass], lane: RenderPlan.Lane, header: PhotoHeader, output: OutputPlan,
        memoryMax: Int
    ) -> Int {
        kept(of: passes, lane: lane, header: header, output: output)
            .reduce(0) { $0 + $1.spoolBytes(memoryMax: memoryMax) }
    }

    /// Returns all kept data. Coefficients of a JPEG of several scans are included, and stay in memory at any size.
    static func kept(
        of passes: [Pass], lane: RenderPlan.Lane, header: PhotoHeader, output: OutputPlan
    ) -> [Kept] {
        let layout = JPEGLayout(header)
        switch lane {
        case .copy, .stream: return []
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
            return tiles(of: passes, header: header, output: output).map {
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
    private static func tiles(of passes: [Pass], header: PhotoHeader, output: OutputPlan)
        -> [TileLayout]
    {
        let codeBytes = header.bitsPerSample <= 8 ? 1 : 2
        let resultBytes = (output.keepsAlpha ? 4 : 3) * (output.bitDepth == .eight ? 1 : 2)
        let lightBytes = 4 * (header.hasAlpha || output.keepsAlpha ? 4 : 3)
        // Bytes of a pixel between two passes: of the photo's codes, then of light, and at the end of the result's codes.
        var pixelBytes = codeBytes * min(header.bands, 4)
        var isWaiting = false
        var tiles: [TileLayout] = []
        var rest = passes[...]
        while let step = PassStep.next(of: &rest, isWaiting: isWaiting) {
            switch step {
            case .filter: isWaiting = true
            case .move(let geometry, let isLast):
                if isWaiting { pixelBytes = isLast ? resultBytes : lightBytes }
                isWaiting = false
                if case .turn(let turn) = geometry.kind, let reader = turn.reader {
                    tiles.append(.init(geometry.source, pixelBytes, reader))
                }
            case .rows(let passes, let isLast):
                if case .geometry(let geometry)? = passes.first, !Planner.streams(geometry) {
                    if geometry.shrink != (1, 1) { pixelBytes = lightBytes }
                    tiles.append(
                        .init(geometry.source.shrunk(geometry.shrink), pixelBytes, .squares))
                }
                pixelBytes = isLast ? resultBytes : lightBytes
                isWaiting = false
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
