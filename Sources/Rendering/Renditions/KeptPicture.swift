import Codecs
import Edits
import Files
import Filters
import RenderProtocol

/// The codes of a rendition, kept until all rows are there: in memory, or in the spool.
final class KeptPicture: RowEncoder {
    let codes: PixelProgram.Layout
    let size: PixelSize
    private let memory: PixelMemory?
    private let writer: TileSpoolWriter?
    private var spool: TileSpool?
    private var rows = 0
    private var rowBytes: Int { size.width * codes.pixelBytes }

    /// - Parameter space: of the spool; nil for memory.
    /// - Throws: `noSpace`, `ioFailure`.
    init(_ plan: PlannedRendition, spool space: SpoolSpace?) throws(Failure) {
        (codes, size) = (plan.codes, plan.placement.size)
        guard let space else {
            (memory, writer) = (PixelMemory(plan.codeBytes), nil)
            return
        }
        let layout = Self.layout(of: plan)
        memory = nil
        writer = TileSpoolWriter(
            layout, to: try SpoolFile(bytes: TileSpool.bytes(of: layout), in: space))
    }

    private static func layout(of plan: PlannedRendition) -> TileLayout {
        TileLayout(
            width: plan.placement.size.width, height: plan.placement.size.height,
            pixelBytes: plan.codes.pixelBytes, for: .rows)
    }

    /// Bytes on the heap and in the spool.
    static func bytes(of plan: PlannedRendition, isSpooled: Bool) -> (memory: Int, spool: Int) {
        let layout = layout(of: plan)
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

    /// Passes the rows to an encoder, after the last row.
    func encode(by encoder: any RowEncoder) throws(Failure) {
        let row = UnsafeMutableRawBufferPointer.allocate(byteCount: rowBytes, alignment: 16)
        defer { row.deallocate() }
        for y in 0..<size.height {
            if let memory {
                try encoder.append(
                    UnsafeRawBufferPointer(start: memory.start + y * rowBytes, count: rowBytes))
            } else if let spool, let start = row.baseAddress {
                try spool.read(
                    PixelArea(left: 0, top: y, width: size.width, height: 1), into: start,
                    stride: rowBytes)
                try encoder.append(UnsafeRawBufferPointer(row))
            }
        }
        try encoder.finish()
    }
}
