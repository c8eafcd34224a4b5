import PhotoFiles

/// The planes of a HEIF's picture, upright, a row of tiles at a time, for readers from top to bottom.
///
/// Tiles are independent of each other, so they are decoded in the order of the upright picture: a picture that is turned by a
/// quarter is read by columns of tiles, and nothing must be kept. Memory: a row of tiles as they were decoded, large ones of 10 bits but
/// for the last one packed (``PackedTile``), and a strip of their rows put together, with the row of samples before it, which is needed to
/// interpolate chroma. With the last row of tiles the decoder's own memory is freed.
final class TileBands {
    private let picture: HEIFPicture
    private let turn: PlaneTurn
    private let isLumaOnly: Bool
    /// Nil once the last row of tiles is decoded.
    private var decoder: VideoDecoder?
    private(set) var layout: FrameLayout?
    /// The tiles of the loaded row, from left to right.
    private var tiles: [KeptTile] = []
    /// Samples of a packed tile on their way into a strip.
    private var unpacked: Heap?
    private var planes: [StripPlane] = []
    /// The loaded row of tiles, and the strip of all rows that is put together.
    private var band = -1, strip = -1
    /// The first row of tiles that was decoded; earlier rows are not available.
    private var firstBand: Int?

    /// The number of tiles of the upright picture.
    private let columns: Int, rows: Int
    /// The position of the shown part in the upright tiles.
    private(set) var left = 0, top = 0

    /// - Parameter isLumaOnly: whether chroma is ignored, as for an alpha picture.
    init(_ picture: HEIFPicture, _ placement: HEIFPlacement, isLumaOnly: Bool) throws(CodecError) {
        self.picture = picture
        self.isLumaOnly = isLumaOnly
        turn = PlaneTurn(placement)
        (columns, rows) =
            turn.transposes ? (picture.rows, picture.columns) : (picture.columns, picture.rows)
        // A coded picture exceeds the shown part by less than a block of the largest side.
        let coded = (picture.tileWidth + Self.blockMax) * (picture.tileHeight + Self.blockMax)
        let decoder = try VideoDecoder(
            .hevc, configuration: picture.configuration.bytes,
            limits: .init(pixelsMax: coded, bytesMax: 4 * coded + Self.tablesMax))
        self.decoder = decoder
        configured = decoder.configured
        let room = tileRoom(shift: Self.shift(of: picture.configuration, isLumaOnly))
        let whole = (
            width: room.width * picture.columns, height: room.height * picture.rows
        )
        var x = placement.left
        var y = placement.top
        if turn.transposes { swap(&x, &y) }
        let upright = turn.transposes ? (whole.height, whole.width) : (whole.width, whole.height)
        left = turn.flipsColumns ? upright.0 - x - placement.width : x
        top = turn.flipsRows ? upright.1 - y - placement.height : y
    }

    /// The largest side of a coding tree block (ITU-T H.265 §7.4.3.2.1).
    private static let blockMax = 64
    /// Bytes of a table that the decoder keeps, beside frames.
    private static let tablesMax = 16 << 20

    static func shift(of configuration: HEVCConfiguration, _ isLumaOnly: Bool) -> (x: Int, y: Int) {
        guard !isLumaOnly else { return (0, 0) }
        return switch configuration.chromaFormat {
        case 1: (1, 1)
        case 2: (1, 0)
        default: (0, 0)
        }
    }

    /// Returns a tile's size, rounded up to whole samples of chroma.
    private func tileRoom(shift: (x: Int, y: Int)) -> (width: Int, height: Int) {
        (
            (picture.tileWidth + (1 << shift.x) - 1) & -(1 << shift.x),
            (picture.tileHeight + (1 << shift.y) - 1) & -(1 << shift.y)
        )
    }

    /// The subsampling of chroma in the upright planes as shifts.
    var shift: (x: Int, y: Int) {
        let shift = Self.shift(of: picture.configuration, isLumaOnly)
        return turn.transposes ? (shift.y, shift.x) : shift
    }

    /// The layout of tiles according to their configuration, before any is decoded.
    let configured: FrameLayout?

    var hasChroma: Bool { !isLumaOnly && picture.configuration.chromaFormat != 0 }

    /// Returns the first available row of samples of a plane.
    func firstRow(_ plane: Int) -> Int { (firstBand ?? 0) * bandRows(plane) }
    func rowCount(_ plane: Int) -> Int { rows * bandRows(plane) }
    func rowLength(_ plane: Int) -> Int {
        let room = tileRoom(shift: Self.shift(of: picture.configuration, isLumaOnly))
        return columns * (turn.transposes ? room.height : room.width) >> (plane == 0 ? 0 : shift.x)
    }

    private func bandRows(_ plane: Int) -> Int {
        let room = tileRoom(shift: Self.shift(of: picture.configuration, isLumaOnly))
        return (turn.transposes ? room.width : room.height) >> (plane == 0 ? 0 : shift.y)
    }

    /// Luma rows of a strip: few enough to stay in the second-level cache, and whole samples of chroma.
    private static let stripRows = 64
    /// The strips of a row of tiles; the last one may have fewer rows.
    private var strips: Int { (bandRows(0) + Self.stripRows - 1) / Self.stripRows }

    /// Puts together the strip that contains a row of luma, and decodes its row of tiles before if it is another one.
    ///
    /// - Parameter row: not before that of an earlier call.
    func load(row: Int, from file: inout FileWindow) throws(HEICError) {
        let line = row % bandRows(0)
        let wanted = row / bandRows(0) * strips + line / Self.stripRows
        guard wanted != strip else { return }
        try load(band: wanted / strips, from: &file)
        // The first row may be the first of its strip and not of its tiles: chroma needs the one before.
        if strip < 0, line >= Self.stripRows { fill(wanted - 1) }
        fill(wanted)
    }

    private func load(band wanted: Int, from file: inout FileWindow) throws(HEICError) {
        guard wanted != band else { return }
        band = wanted
        firstBand = firstBand ?? wanted
        tiles.removeAll(keepingCapacity: true)
        for column in 0..<columns {
            // From the upright tiles back to the coded ones.
            let x = turn.flipsColumns ? columns - 1 - column : column
            let y = turn.flipsRows ? rows - 1 - wanted : wanted
            let tile = turn.transposes ? x * picture.columns + y : y * picture.columns + x
            let kept = try decode(tile, &file)
            // The frame of a packed one is the next one's.
            let packed = column < columns - 1 ? PackedTile(kept.frame) : nil
            tiles.append(packed.map { .packed($0) } ?? .decoded(kept))
        }
        if wanted == rows - 1 { decoder = nil }
    }

    private func fill(_ wanted: Int) {
        let first = wanted % strips * Self.stripRows
        let count = min(Self.stripRows, bandRows(0) - first)
        for (index, plane) in planes.enumerated() {
            let shift = index == 0 ? 0 : self.shift.y
            plane.begin(count >> shift, isNeighbour: wanted == strip + 1)
            for column in 0..<columns {
                copy(index, of: column, rows: first >> shift..<(first + count) >> shift)
            }
        }
        strip = wanted
    }

    /// Returns a row of samples of a plane: of the loaded strip, or the last one before it.
    func row(_ row: Int, of plane: Int) -> UnsafeRawPointer {
        let shift = plane == 0 ? 0 : self.shift.y
        let first = strip / strips * bandRows(0) + strip % strips * Self.stripRows
        return planes[plane].row(row - (first >> shift))
    }

    private func decode(_ tile: Int, _ file: inout FileWindow) throws(HEICError) -> KeptFrame {
        let unit = picture.tiles[tile].reduce(into: [UInt8]()) { $0 += file.all($1) }
        guard unit.count == picture.tiles[tile].reduce(0, { $0 + $1.count }) else {
            throw .contradiction("tile \(tile) cannot be read: the file is cut off")
        }
        guard let decoder else { throw .contradiction("tile \(tile) is behind the last one") }
        let kept: KeptFrame
        do throws(CodecError) {
            kept = try decoder.decode(still: unit)
        } catch {
            throw .codec(error)
        }
        if let problem = check(kept.frame, of: tile) { throw problem }
        return kept
    }

    private func check(_ frame: DecodedFrame, of tile: Int) -> HEICError? {
        let found = frame.layout
        let configuration = picture.configuration
        let shift = Self.shift(of: configuration, false)
        guard found.width >= picture.tileWidth, found.height >= picture.tileHeight else {
            return .contradiction(
                "tile \(tile) has \(found.width) × \(found.height) pixels, not \(picture.tileWidth) × "
                    + "\(picture.tileHeight)")
        }
        guard found.bits == configuration.lumaBits,
            found.hasChroma == (configuration.chromaFormat != 0),
            !found.hasChroma || found.chromaShift == shift
        else { return .contradiction("tile \(tile) has samples that contradict its configuration") }
        guard
            !picture.isGrid
                || (picture.tileWidth % (1 << shift.x), picture.tileHeight % (1 << shift.y)) == (
                    0, 0
                )
        else { return .unsupported("tiles of an odd size with half as many samples of chroma") }
        if let layout, layout != found {
            return .contradiction("tile \(tile) has other codes than the first one")
        }
        layout = found
        if planes.isEmpty {
            planes = (0..<(hasChroma ? 3 : 1)).map { plane in
                StripPlane(
                    rows: Self.stripRows >> (plane == 0 ? 0 : self.shift.y),
                    rowBytes: rowLength(plane) * found.sampleBytes)
            }
        }
        return nil
    }

    /// Copies rows of the upright tile, its columns if the picture is turned by a quarter, into a strip.
    private func copy(_ index: Int, of column: Int, rows: Range<Int>) {
        let shift = index == 0 ? (x: 0, y: 0) : Self.shift(of: picture.configuration, isLumaOnly)
        let whole = tileRoom(shift: Self.shift(of: picture.configuration, isLumaOnly))
        let room = (width: whole.width >> shift.x, height: whole.height >> shift.y)
        let tile = tiles[column]
        let source = tile.size(of: index)
        let length = turn.transposes ? room.width : room.height
        let first = turn.flipsRows ? length - rows.upperBound : rows.lowerBound
        let (x, y) = turn.transposes ? (first, 0) : (0, first)
        let part =
            turn.transposes ? (width: rows.count, height: room.height) : (room.width, rows.count)
        let size = (
            width: max(0, min(source.width - x, part.width)),
            height: max(0, min(source.height - y, part.height))
        )
        let target = planes[index]
        let left = column * (turn.transposes ? room.height : room.width)
        let samples = samples(of: tile, index, at: (x, y), size)
        func copy<Sample>(_ sample: Sample.Type) {
            let start = samples.start.assumingMemoryBound(to: sample)
            turn.copy(
                (start, samples.stride), size: size, room: part,
                to: (target.start.assumingMemoryBound(to: sample) + left, target.rowBytes))
        }
        if layout?.sampleBytes == 1 { copy(UInt8.self) } else { copy(UInt16.self) }
    }

    /// Returns the first sample of a part of a tile, and bytes from one row to the next; valid until the next call.
    private func samples(
        of tile: KeptTile, _ index: Int, at place: (x: Int, y: Int),
        _ size: (width: Int, height: Int)
    ) -> (start: UnsafeRawPointer, stride: Int) {
        switch tile {
        case .decoded(let kept):
            let plane = kept.frame.planes[index]
            let left = place.x * kept.frame.layout.sampleBytes
            return (plane.start + place.y * plane.stride + left, plane.stride)
        case .packed(let packed):
            let rowBytes = size.width * MemoryLayout<UInt16>.stride
            let bytes = size.height * rowBytes
            let room = unpacked.flatMap { $0.count >= bytes ? $0 : nil } ?? Heap(max(1, bytes))
            unpacked = room
            packed.unpack(
                index, columns: place.x..<place.x + size.width,
                rows: place.y..<place.y + size.height,
                to: room.start.assumingMemoryBound(to: UInt16.self))
            return (UnsafeRawPointer(room.start), rowBytes)
        }
    }
}

/// A tile of the loaded row.
private enum KeptTile {
    case decoded(KeptFrame)
    case packed(PackedTile)

    func size(of plane: Int) -> (width: Int, height: Int) {
        switch self {
        case .decoded(let kept): (kept.frame.planes[plane].width, kept.frame.planes[plane].height)
        case .packed(let packed): packed.size(of: plane)
        }
    }
}

/// A strip of rows of samples of one plane, and the row before it.
private final class StripPlane {
    private let memory: Heap
    /// The rows in use.
    private var rows = 0
    let rowBytes: Int

    /// The first row after the kept one.
    var start: UnsafeMutableRawPointer { memory.start + rowBytes }

    init(rows: Int, rowBytes: Int) {
        self.rowBytes = rowBytes
        memory = Heap((rows + 1) * rowBytes)
    }

    /// Begins a strip, and keeps the last row of the one before if it is the neighbour.
    func begin(_ rows: Int, isNeighbour: Bool) {
        if isNeighbour, self.rows > 0 {
            memory.start.copyMemory(
                from: start + (self.rows - 1) * rowBytes, byteCount: rowBytes)
        }
        self.rows = rows
    }

    /// Returns a row; -1 is the kept one.
    func row(_ row: Int) -> UnsafeRawPointer { UnsafeRawPointer(start + row * rowBytes) }
}

/// Zeroed bytes on the heap, freed with the last owner.
private final class Heap {
    let start: UnsafeMutableRawPointer
    let count: Int

    init(_ count: Int) {
        self.count = count
        start = .allocate(byteCount: count, alignment: 64)
        start.initializeMemory(as: UInt8.self, repeating: 0, count: count)
    }

    deinit { start.deallocate() }
}

/// Copies a plane of samples to its position in the upright picture.
package struct PlaneTurn {
    let transposes, flipsColumns, flipsRows: Bool

    /// Creates a turn: columns and rows are swapped first, then mirrored.
    package init(transposes: Bool, flipsColumns: Bool, flipsRows: Bool) {
        self.transposes = transposes
        (self.flipsColumns, self.flipsRows) = (flipsColumns, flipsRows)
    }

    init(_ placement: HEIFPlacement) {
        self.init(
            transposes: placement.transposes, flipsColumns: placement.flipsColumns,
            flipsRows: placement.flipsRows)
    }

    /// Samples that are copied together when rows become columns, so that source and target stay in the cache.
    private static let block = 16

    /// Copies samples from one plane to another.
    ///
    /// - Parameters:
    ///   - source: the first sample, and bytes from one row to the next.
    ///   - size: the size of the part of the source that is copied.
    ///   - room: the full size of the source, within which it is flipped.
    ///   - target: the first sample of the full upright plane, and bytes from one row to the next.
    package func copy<Sample>(
        _ source: (start: UnsafePointer<Sample>, stride: Int), size: (width: Int, height: Int),
        room: (width: Int, height: Int),
        to target: (start: UnsafeMutablePointer<Sample>, stride: Int)
    ) {
        let (from, to) = (source.start, target.start)
        let (fromStep, toStep) = (
            source.stride / MemoryLayout<Sample>.stride, target.stride / MemoryLayout<Sample>.stride
        )
        guard transposes else {
            for y in 0..<size.height {
                let row = to + (flipsRows ? room.height - 1 - y : y) * toStep
                let samples = from + y * fromStep
                if flipsColumns {
                    let last = row + (room.width - 1)
                    for x in 0..<size.width { last[-x] = samples[x] }
                } else {
                    row.update(from: samples, count: size.width)
                }
            }
            return
        }
        // A column of the source is a row of the target.
        let (rowStep, first) = (
            flipsRows ? -toStep : toStep, to + (flipsRows ? (room.width - 1) * toStep : 0)
        )
        let across = flipsColumns ? -1 : 1
        let origin = first + (flipsColumns ? room.height - 1 : 0)
        for top in stride(from: 0, to: size.height, by: Self.block) {
            for left in stride(from: 0, to: size.width, by: Self.block) {
                for x in left..<min(left + Self.block, size.width) {
                    let row = origin + x * rowStep
                    for y in top..<min(top + Self.block, size.height) {
                        row[y * across] = from[y * fromStep + x]
                    }
                }
            }
        }
    }
}
