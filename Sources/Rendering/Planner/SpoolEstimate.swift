import Adjustments
import JPEG
import RenderProtocol
import Vips

/// How much of a render's pixels go to spool files, from what its header and plan say: what ``PassRunner``
/// and ``PlanesLane`` will ask for.
enum SpoolEstimate {
    /// Bytes on the disk.
    ///
    /// - Parameter memoryMax: pixels up to this many bytes stay in memory.
    static func bytes(
        of passes: [Pass], lane: RenderPlan.Lane, header: PhotoHeader, output: OutputPlan,
        memoryMax: Int
    ) -> Int {
        switch lane {
        case .copy, .stream: 0
        case .lossless: coefficients(Planner.geometry(of: passes), header, memoryMax)
        case .planes: planes(Planner.turn(of: passes) ?? .upright, header, memoryMax)
        case .spool:
            tiles(of: passes, header: header, output: output)
                .filter { $0.width * $0.height * $0.pixelBytes > memoryMax }
                .reduce(0) { $0 + TileSpool.bytes(of: $1) }
        }
    }

    /// How a JPEG's planes lie in a file before they are turned; nothing when they stream or fit into memory.
    private static func planes(_ turn: Orientation, _ header: PhotoHeader, _ memoryMax: Int) -> Int
    {
        let turn = JPEGTurn(orientation: turn.rawValue)
        let layout = JPEGLayout(header)
        guard turn.transposes || turn.flips, JPEGPlanes.byteCount(layout) > memoryMax else {
            return 0
        }
        return PlanesSpool.bytes(of: layout, turn)
    }

    /// The coefficients of a JPEG of one scan, 2 bytes for each sample of its planes.
    private static func coefficients(_ geometry: Geometry?, _ header: PhotoHeader, _ memoryMax: Int)
        -> Int
    {
        let turns = geometry?.steps.compactMap { step -> Orientation? in
            if case .turn(let turn) = step.kind { turn } else { nil }
        }
        let turn = JPEGTurn(orientation: turns?.first?.rawValue ?? 1)
        let layout = JPEGLayout(header)
        guard 2 * JPEGPlanes.byteCount(layout) > memoryMax else { return 0 }
        return CoefficientSpool.bytes(of: layout, turn)
    }

    /// The pictures that are computed before they are read in another order, wherever they go.
    static func tiles(of passes: [Pass], header: PhotoHeader, output: OutputPlan) -> [TileLayout] {
        let codeBytes = header.bitsPerSample <= 8 ? 1 : 2
        let resultBytes = output.bitDepth == .eight ? 1 : 2
        let resultBands = output.keepsAlpha ? 4 : 3
        let lightBands = header.hasAlpha || output.keepsAlpha ? 4 : 3
        // Of what is spooled: the photo's codes, then light, and the result's codes at the end.
        var pixelBytes = codeBytes * min(header.bands, 4)
        var tiles: [TileLayout] = []
        for (index, pass) in passes.enumerated() {
            let isEnd = passes[(index + 1)...].allSatisfy(\.isLossless)
            guard case .geometry(let geometry) = pass else {
                pixelBytes = isEnd ? resultBytes * resultBands : 4 * lightBands
                continue
            }
            if case .turn(let turn) = geometry.kind, let reader = turn.reader {
                tiles.append(.init(geometry.source, pixelBytes, reader))
            } else if geometry.kind == .warp, !Planner.streams(geometry) {
                let shrink = geometry.shrink
                if shrink != (1, 1) { pixelBytes = 4 * lightBands }
                tiles.append(
                    .init(
                        PixelSize(
                            width: (geometry.source.width + shrink.columns - 1) / shrink.columns,
                            height: (geometry.source.height + shrink.rows - 1) / shrink.rows),
                        pixelBytes, .squares))
            }
            if !geometry.isLossless { pixelBytes = 4 * lightBands }
        }
        return tiles
    }
}

extension TileLayout {
    fileprivate init(_ size: PixelSize, _ pixelBytes: Int, _ reader: Reader) {
        self.init(width: size.width, height: size.height, pixelBytes: pixelBytes, for: reader)
    }
}

extension JPEGLayout {
    /// That of a JPEG as stored, as far as its header is told. Rare samplings become 4:4:4, which is more.
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
