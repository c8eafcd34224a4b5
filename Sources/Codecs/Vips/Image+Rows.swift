public import Edits
import CVips
import Synchronization

/// Reads rows of an image; valid for one call.
public struct RowReader {
    let region: UnsafeMutablePointer<VipsRegion>

    /// Returns some whole rows, or nil if they cannot be computed; libvips' error text has the reason.
    public func rows(from top: Int, count: Int) -> RegionPixels? {
        let width = Int(region.pointee.im.pointee.Xsize)
        return pixels(of: PixelArea(left: 0, top: top, width: width, height: count))
    }

    /// Returns any rectangle of an image that can be read in any order.
    public func pixels(of area: PixelArea) -> RegionPixels? {
        var wanted = VipsRect(
            left: Int32(area.left), top: Int32(area.top), width: Int32(area.width),
            height: Int32(area.height))
        guard vips_region_prepare(region, &wanted) == 0,
            let start = minilab_region_address(region, wanted.left, wanted.top)
        else { return nil }
        return RegionPixels(
            area: area, start: UnsafeMutableRawPointer(start),
            stride: minilab_region_stride(region))
    }
}

/// Computes the rows of a picture from those of another, from top to bottom.
///
/// It may keep state from row to row: one thread uses it at a time, and each row is computed once.
public protocol RowMaker: AnyObject {
    /// The reader of the other picture; nil while no row is being made. Read pixels are invalid then.
    var reader: RowReader? { get set }
    /// Computes the next row.
    ///
    /// - Returns: whether it succeeded; false if a row could not be read.
    func makeRow(into row: UnsafeMutableRawPointer) -> Bool
}

extension Image {
    /// Returns a picture whose rows `maker` computes from this one's, each once and in order, whatever shapes are requested.
    ///
    /// This image is also read from top to bottom. The last rows are kept, since libvips' threads request them in no strict order.
    ///
    /// - Parameter maker: must not be used elsewhere.
    public func computingRows(_ picture: RegionPicture, _ maker: sending any RowMaker)
        throws(VipsError) -> Image
    {
        let program = RowProgram(input: self) { reader, rows in
            maker.reader = reader
            defer { maker.reader = nil }
            return rows.allSatisfy(maker.makeRow)
        }
        return try computing(picture, Unmanaged.passRetained(program), generateRows)
    }

    /// Returns a picture whose rows come from another source, each once and in order, whatever shapes are requested.
    ///
    /// The number of kept rows is that of ``computingRows(_:_:)``.
    ///
    /// - Parameters:
    ///   - original: the source of the resolution and other metadata; not retained.
    ///   - makeRow: computes the next row, or returns an error. One thread calls it at a time.
    public static func suppliedRows(
        _ picture: RegionPicture, like original: Image? = nil,
        by makeRow: sending @escaping (UnsafeMutableRawPointer) -> String?
    ) throws(VipsError) -> Image {
        let program = RowProgram(input: nil) { _, rows in
            for row in rows {
                guard let problem = makeRow(row) else { continue }
                minilab_error(problem)
                return false
            }
            return true
        }
        let image = try generated(
            picture, Unmanaged.passRetained(program), like: original, generateSuppliedRows)
        // VIPS_META_SEQUENTIAL: where libvips shrinks, it keeps rows instead of requesting them again.
        vips_image_set_int(image.pointer, "vips-sequential", 1)
        return image
    }
}

/// `@unchecked Sendable` is safe because the lock guards all mutable state.
private final class RowProgram: @unchecked Sendable {
    /// Retained for the lifetime of the picture.
    private let input: Image?
    /// Computes the next rows, and returns whether it succeeded.
    private let make: (RowReader?, Rows) -> Bool
    private let lock = Mutex(())
    private var made = 0
    /// The last rows, row y at y mod kept.
    private var rows: UnsafeMutableRawBufferPointer?
    private var kept = 0

    /// The addresses of rows.
    typealias Rows = LazyMapSequence<Range<Int>, UnsafeMutableRawPointer>

    init(input: Image?, make: sending @escaping (RowReader?, Rows) -> Bool) {
        self.input = input
        self.make = make
    }

    deinit { rows?.deallocate() }

    func fill(_ output: UnsafeMutablePointer<VipsRegion>, _ reader: RowReader?) -> Bool {
        lock.withLock { _ in
            let area = PixelArea(output.pointee.valid)
            let pixel = minilab_region_pixel(output)
            let rowBytes = Int(output.pointee.im.pointee.Xsize) * pixel
            keep(
                Self.keptRows(output.pointee.im, area.height), of: rowBytes,
                height: Int(output.pointee.im.pointee.Ysize))
            guard let rows = rows?.baseAddress, area.top >= made - kept else {
                minilab_error("row \(area.top) is asked for too late: \(made) are made")
                return false
            }
            let end = area.top + area.height
            if made < end {
                let wanted = (made..<end).lazy.map { [kept] in rows + ($0 % kept) * rowBytes }
                guard make(reader, wanted) else { return false }
                made = end
            }
            for y in area.top..<area.top + area.height {
                guard
                    let target = minilab_region_address(output, Int32(area.left), Int32(y))
                else { return false }
                UnsafeMutableRawPointer(target).copyMemory(
                    from: rows + (y % kept) * rowBytes + area.left * pixel,
                    byteCount: area.width * pixel)
            }
            return true
        }
    }

    /// Returns the number of rows that may still be requested. libvips fills two buffers at a time, of a number of lines that it
    /// reports; one thread may begin at the first line of one while another is at the last line of the other.
    ///
    /// - Parameter height: the height of a request.
    private static func keptRows(_ image: UnsafeMutablePointer<VipsImage>, _ height: Int) -> Int {
        guard VipsLibrary.threads > 1 else { return 4 * height }
        var (tileWidth, tileHeight, lines) = (Int32(0), Int32(0), Int32(0))
        vips_get_tile_size(image, &tileWidth, &tileHeight, &lines)
        return 2 * (Int(lines) + height)
    }

    /// Enlarges the memory to this number of rows and keeps their contents.
    private func keep(_ wanted: Int, of rowBytes: Int, height: Int) {
        let wanted = min(wanted, height)
        guard wanted > kept else { return }
        let room = UnsafeMutableRawBufferPointer.allocate(
            byteCount: wanted * rowBytes, alignment: 16)
        if let rows {
            for y in max(0, made - kept)..<made {
                let bytes = rows[(y % kept) * rowBytes..<(y % kept + 1) * rowBytes]
                UnsafeMutableRawBufferPointer(
                    rebasing: room[(y % wanted) * rowBytes..<(y % wanted + 1) * rowBytes]
                ).copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes))
            }
            rows.deallocate()
        }
        (rows, kept) = (room, wanted)
    }
}

// At file scope of a library, because libvips calls it on its own threads.
private let generateRows: VipsGenerateFn = { out, sequence, _, client, _ in
    guard let out, let sequence, let client else { return -1 }
    let program = Unmanaged<RowProgram>.fromOpaque(client).takeUnretainedValue()
    let reader = RowReader(region: sequence.assumingMemoryBound(to: VipsRegion.self))
    return program.fill(out, reader) ? 0 : -1
}

private let generateSuppliedRows: VipsGenerateFn = { out, _, _, client, _ in
    guard let out, let client else { return -1 }
    let program = Unmanaged<RowProgram>.fromOpaque(client).takeUnretainedValue()
    return program.fill(out, nil) ? 0 : -1
}
