import Codecs
import Edits
import Files
import Filters
import RenderProtocol

/// The codes of a rendition, kept until all rows are there: in memory, or in the spool.
final class KeptPicture: RowEncoder {
    let codes: PixelProgram.Layout
    let size: PixelSize
    private let space: SpoolSpace?
    private let memory: PixelMemory?
    private let writer: TileSpoolWriter?
    private var spool: TileSpool?
    private var rows = 0
    private var rowBytes: Int { size.width * codes.pixelBytes }

    /// - Parameter space: of the spool; nil for memory.
    /// - Throws: `noSpace`, `ioFailure`.
    init(
        _ codes: PixelProgram.Layout, _ size: PixelSize, spool space: SpoolSpace?
    ) throws(Failure) {
        (self.codes, self.size, self.space) = (codes, size, space)
        guard let space else {
            (memory, writer) = (PixelMemory(size.pixels * codes.pixelBytes), nil)
            return
        }
        let layout = Self.layout(codes, size)
        memory = nil
        writer = TileSpoolWriter(
            layout, to: try SpoolFile(bytes: TileSpool.bytes(of: layout), in: space))
    }

    private static func layout(_ codes: PixelProgram.Layout, _ size: PixelSize) -> TileLayout {
        TileLayout(
            width: size.width, height: size.height, pixelBytes: codes.pixelBytes, for: .rows)
    }

    /// Bytes on the heap and in the spool.
    static func bytes(of plan: PlannedRendition, isSpooled: Bool) -> (memory: Int, spool: Int) {
        let layout = layout(plan.codes, plan.placement.size)
        return isSpooled
            ? (TileSpool.memoryBytes(of: layout), layout.wholePages) : (plan.codeBytes, 0)
    }

    func append(_ row: UnsafeRawBufferPointer) throws(Failure) {
        guard let start = row.baseAddress else { return }
        if let memory {
            UnsafeMutableRawPointer(memory.start + rows * rowBytes).copyMemory(
                from: start, byteCount: rowBytes)
        }
        try writer?.append(start, stride: rowBytes, count: 1)
        rows += 1
    }

    func finish() throws(Failure) { spool = try writer?.finish() }

    /// Returns the picture, after the last row.
    func image(like header: Image) throws -> Image {
        let picture = codes.picture(width: size.width, height: size.height)
        if let memory {
            let image = try Image.over(
                UnsafeRawBufferPointer(start: memory.start, count: memory.count), of: memory,
                width: size.width, height: size.height, bands: codes.bands,
                format: picture.format, interpretation: picture.interpretation)
            return try image.withMetadata(of: header)
        }
        guard let spool else { preconditionFailure("a picture is read before its last row") }
        return try Image.supplied(picture, like: header) { pixels in
            do throws(Failure) {
                try spool.read(pixels.area, into: pixels.start, stride: pixels.stride)
                return nil
            } catch {
                return error.description
            }
        }
    }

    /// Passes on the rows, after the last one.
    func forEachRow(
        _ use: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        let row = UnsafeMutableRawBufferPointer.allocate(byteCount: rowBytes, alignment: 16)
        defer { row.deallocate() }
        for y in 0..<size.height {
            try read(y, into: row)
            try use(row)
        }
    }

    private func read(_ y: Int, into row: UnsafeMutableRawBufferPointer) throws(Failure) {
        if let memory {
            row.copyMemory(
                from: UnsafeRawBufferPointer(start: memory.start + y * rowBytes, count: rowBytes))
        } else if let spool, let start = row.baseAddress {
            try spool.read(
                PixelArea(left: 0, top: y, width: size.width, height: 1), into: start,
                stride: rowBytes)
        }
    }

    /// Passes the rows to an encoder, after the last row.
    func encode(by encoder: any RowEncoder) throws(Failure) {
        try forEachRow { row throws(Failure) in
            try encoder.append(UnsafeRawBufferPointer(row))
        }
        try encoder.finish()
    }

    /// Returns the luma of a row, after the last one.
    func luma(row y: Int) throws(Failure) -> [Float] {
        let row = UnsafeMutableRawBufferPointer.allocate(byteCount: rowBytes, alignment: 16)
        defer { row.deallocate() }
        try read(y, into: row)
        return row.baseAddress.map { codes.luma($0, count: size.width) } ?? []
    }

    /// Returns a smaller copy, reduced in linear light.
    ///
    /// - Parameter colour: the meaning of the codes.
    func reduced(to small: PixelSize, _ colour: PhotoColour) throws(Failure) -> KeptPicture {
        let copy = try KeptPicture(codes, small, spool: space)
        let planes = codes.hasAlpha ? 4 : 3
        let light = PixelProgram.Layout(sample: .planes, bands: planes)
        var tree = LightTree(RowFormat(width: size.width, height: size.height, planes: planes))
        func axis(_ count: Int, _ length: Int) -> ReductionAxis {
            ReductionAxis(count: count, step: Double(length) / Double(count), offset: 0)
        }
        let reduction = Reduction(
            columns: axis(small.width, size.width), rows: axis(small.height, size.height))
        let coding = PixelProgram(
            source: light, filters: [], target: codes, height: small.height, colour: colour)
        tree.add(reduction, into: CodedLight(small, planes: planes, coding, to: copy))
        let reading = PixelProgram(
            source: codes, filters: [], target: light, height: size.height, colour: colour)
        let root = tree.root
        try forEachRow { row throws(Failure) in
            guard let start = row.baseAddress else { return }
            let room = root.room
            reading.run(
                start, at: (0, 0), count: size.width, into: UnsafeMutableRawPointer(room.start),
                stride: room.stride)
            try root.take()
        }
        try copy.finish()
        return copy
    }
}

/// Makes codes of rows of light.
private final class CodedLight: LightSink {
    private let row: ScratchRow
    private let width: Int
    private let program: PixelProgram
    private let codes: UnsafeMutableRawBufferPointer
    private let encoder: any RowEncoder

    init(_ size: PixelSize, planes: Int, _ program: PixelProgram, to encoder: any RowEncoder) {
        row = ScratchRow(width: size.width, planes: planes)
        width = size.width
        (self.program, self.encoder) = (program, encoder)
        codes = .allocate(byteCount: size.width * program.target.pixelBytes, alignment: 16)
    }

    deinit { codes.deallocate() }

    var room: PlanarRow { row.row }

    func take() throws(Failure) {
        guard let start = codes.baseAddress else { return }
        program.run(
            UnsafeMutableRawPointer(row.row.start), at: (0, 0), count: width, into: start,
            stride: row.row.stride)
        try encoder.append(UnsafeRawBufferPointer(codes))
    }
}
