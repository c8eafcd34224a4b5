import CMinilab
import Codecs
import Edits
import Files
import Glibc
import Synchronization
import SystemPackage

/// A picture in a spool file, read in any order.
struct TileSpool: Sendable {
    /// The layout of its pixels.
    let layout: TileLayout
    private let file: SpoolFile
    /// The offset of its bytes in the file, which several pictures may share.
    private let start: Int

    fileprivate init(_ layout: TileLayout, _ file: SpoolFile, at start: Int) {
        self.layout = layout
        self.file = file
        self.start = start
    }

    /// Returns the bytes on the disk of a spooled picture.
    static func bytes(of layout: TileLayout) -> Int { layout.bytes }

    /// Returns the bytes on the heap while a picture is written: its band. Reading needs none.
    static func memoryBytes(of layout: TileLayout) -> Int { layout.bandBytes }

    /// Reads an area. Any thread may call it.
    ///
    /// - Parameters:
    ///   - area: within the picture.
    ///   - target: receives the first pixel.
    ///   - stride: bytes from one row of the target to the next.
    /// - Throws: `ioFailure`.
    func read(_ area: PixelArea, into target: UnsafeMutableRawPointer, stride: Int)
        throws(Failure)
    {
        for part in layout.parts(of: area.left..<area.left + area.width) {
            let target = target + part.areaColumn * layout.pixelBytes
            if part.count == layout.tileWidth, stride == layout.rowBytes {
                try read(
                    UnsafeMutableRawBufferPointer(
                        start: target, count: area.height * stride), part.tile, area.top)
            } else if 2 * part.count >= layout.tileWidth {
                try readThrough(part, area, target, stride)
            } else {
                let bytes = part.count * layout.pixelBytes
                for y in 0..<area.height {
                    try read(
                        UnsafeMutableRawBufferPointer(start: target + y * stride, count: bytes),
                        part.tile, area.top + y, skipping: part.first * layout.pixelBytes)
                }
            }
        }
    }

    /// Reads whole rows of a column of tiles, of which only some pixels are wanted.
    private func readThrough(
        _ part: TileLayout.Part, _ area: PixelArea, _ target: UnsafeMutableRawPointer, _ stride: Int
    ) throws(Failure) {
        let rowBytes = layout.rowBytes
        let rows = UnsafeMutableRawBufferPointer.allocate(
            byteCount: area.height * rowBytes, alignment: 16)
        defer { rows.deallocate() }
        try read(rows, part.tile, area.top)
        guard let first = rows.baseAddress else { return }
        for y in 0..<area.height {
            (target + y * stride).copyMemory(
                from: first + y * rowBytes + part.first * layout.pixelBytes,
                byteCount: part.count * layout.pixelBytes)
        }
    }

    private func read(
        _ bytes: UnsafeMutableRawBufferPointer, _ tile: Int, _ row: Int, skipping skipped: Int = 0
    ) throws(Failure) {
        try file.read(bytes, at: start + layout.offset(tile: tile, row: row) + skipped)
    }
}

/// Writes a picture into a spool file, row by row from the top.
///
/// Keeps one band in memory. One thread uses it at a time.
final class TileSpoolWriter {
    private let spool: TileSpool
    private let layout: TileLayout
    private let file: SpoolFile
    private let start: Int
    /// The tiles of a band, one behind another.
    private let band: UnsafeMutableRawPointer
    private var rows = 0

    /// - Parameters:
    ///   - file: has space for the layout's bytes after `start`.
    ///   - start: a whole number of pages.
    init(_ layout: TileLayout, to file: SpoolFile, at start: Int = 0) {
        self.layout = layout
        self.file = file
        self.start = start
        spool = TileSpool(layout, file, at: start)
        band = .allocate(byteCount: layout.bandBytes, alignment: 64)
        // The padding outside the picture is written too.
        band.initializeMemory(as: UInt8.self, repeating: 0, count: layout.bandBytes)
    }

    deinit { band.deallocate() }

    /// Appends the next rows.
    ///
    /// - Throws: `noSpace`, `ioFailure`.
    func append(_ first: UnsafeRawPointer, stride: Int, count: Int) throws(Failure) {
        precondition(rows + count <= layout.height, "\(rows) + \(count) rows of \(layout.height)")
        for index in 0..<count {
            put(first + index * stride)
            rows += 1
            if rows % layout.tileHeight == 0 { try writeBand() }
        }
    }

    /// Returns the picture, after its last row. Missing rows are 0.
    ///
    /// - Throws: `noSpace`, `ioFailure`.
    func finish() throws(Failure) -> TileSpool {
        if rows % layout.tileHeight != 0 { try writeBand() }
        try file.flush()
        return spool
    }

    /// Distributes a row over the tiles of the band.
    private func put(_ row: UnsafeRawPointer) {
        let (rowBytes, tileBytes) = (layout.rowBytes, layout.tileBytes)
        var target = band + rows % layout.tileHeight * rowBytes
        let leadBytes = layout.lead * layout.pixelBytes
        var rest = layout.width * layout.pixelBytes
        var from = row
        var count = min(rest, rowBytes - leadBytes)
        memcpy(target + leadBytes, from, count)
        while rest > count {
            rest -= count
            from += count
            target += tileBytes
            count = min(rest, rowBytes)
            memcpy(target, from, count)
        }
    }

    private func writeBand() throws(Failure) {
        let top = (rows - 1) / layout.tileHeight * layout.tileHeight
        let bytes = (rows - top) * layout.rowBytes
        for tile in 0..<layout.tilesAcross {
            try file.write(
                UnsafeRawBufferPointer(start: band + tile * layout.tileBytes, count: bytes),
                at: start + layout.offset(tile: tile, row: top))
        }
    }
}

/// A part of the spool for pixels that do not fit into memory.
///
/// Written and read pages are flushed to the disk and dropped from the page cache early. Otherwise the kernel would charge them to
/// the process's cgroup.
final class SpoolFile: Sendable {
    private let space: SpoolSpace
    private let start: Int
    private let length: Int
    private var descriptor: Int32 { space.file.descriptor }
    /// Bytes that went through the page cache since it was last dropped.
    private let writtenBytes = Atomic(0), readBytes = Atomic(0)

    /// After this many written bytes, the previous ones must be on the disk: the page cache holds at most twice as many. The disk
    /// writes in the meantime.
    static let unwrittenBytesMax = 8 << 20
    /// Bytes that may stay in the page cache after they were read: for repeated reads, and for the kernel's read-ahead.
    static let cachedBytesMax = 16 << 20

    /// Allocates its space on the disk, so that writing cannot run out of space.
    ///
    /// - Throws: `noSpace` if the disk or a quota has too little, `ioFailure`.
    init(bytes: Int, in space: SpoolSpace) throws(Failure) {
        start = try space.reserve(bytes)
        length = bytes
        self.space = space
    }

    deinit { space.release(start, length) }

    /// Writes bytes at an offset.
    ///
    /// - Throws: `noSpace`, `ioFailure`.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(Failure) {
        try SpoolSpace.saying(
            "write \(bytes.count) bytes", Descriptor.write(descriptor, bytes, at: start + offset))
        let written = writtenBytes.add(bytes.count, ordering: .relaxed).newValue
        if written >= Self.unwrittenBytesMax {
            writtenBytes.store(0, ordering: .relaxed)
            try waitForFlush()
            try startFlush()
        }
    }

    /// Reads the bytes at an offset into memory. Any thread may call it.
    ///
    /// - Throws: `ioFailure`.
    func read(_ bytes: UnsafeMutableRawBufferPointer, at offset: Int) throws(Failure) {
        let action = "read \(bytes.count) bytes"
        let count = try SpoolSpace.saying(
            action, Descriptor.read(descriptor, into: bytes, from: start + offset))
        guard count == bytes.count else { throw SpoolSpace.failure(action, .ioError) }
        let read = readBytes.add(bytes.count, ordering: .relaxed).newValue
        if read >= Self.cachedBytesMax {
            readBytes.store(0, ordering: .relaxed)
            leaveCache()
        }
    }

    /// Waits until the written bytes are on the disk.
    ///
    /// - Throws: `noSpace`, `ioFailure` if the disk did not accept them.
    func flush() throws(Failure) {
        try startFlush()
        try waitForFlush()
    }

    private func startFlush() throws(Failure) {
        try check(minilab_start_flush(descriptor))
    }

    private func waitForFlush() throws(Failure) {
        try check(minilab_wait_for_flush(descriptor))
        leaveCache()
    }

    /// Checks the status. File systems without support for ranges keep the pages, which is no error.
    private func check(_ status: Int32) throws(Failure) {
        guard status != 0, ![EINVAL, ENOSYS, EOPNOTSUPP].contains(errno) else { return }
        throw SpoolSpace.failure("write to the disk", .latest)
    }

    /// Advises the kernel to drop the pages. Without it, the kernel reclaims them when memory is short.
    private func leaveCache() { posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED) }
}

/// The storage for pixels that are needed in any order.
struct SpoolStorage: Sendable {
    /// The spool space; nil if everything stays in memory.
    let space: SpoolSpace?
    /// Pixels of up to this many bytes stay in memory; more go to a file.
    var memoryBytesMax = Photo.memorySpoolBytesMax

    /// No spool: for pictures that are certainly small.
    static let none = SpoolStorage(space: nil, memoryBytesMax: .max)

    /// Returns the spool space.
    ///
    /// - Throws: `internalError` if the request had none.
    func file() throws(Failure) -> SpoolSpace {
        guard let space else {
            throw Failure(
                .internalError, "a render needs a spool, and its request came without one.")
        }
        return space
    }
}

extension Image {
    /// Computes the picture at once, in memory or in a file, so that any pixel can be read at any time.
    ///
    /// - Throws: `VipsError` or `Failure`.
    func inAnyOrder(for reader: TileLayout.Reader, _ storage: SpoolStorage) throws -> Image {
        // Several threads might request rows that a streaming decoder has just passed.
        let rows = VipsLibrary.threads > 1 ? try readInSteps() : self
        return byteCount <= storage.memoryBytesMax
            ? try rows.inMemory() : try rows.spooled(for: reader, in: storage.file())
    }

    /// Computes the picture at once, into a part of the spool file that is released with the picture.
    ///
    /// - Throws: `VipsError` or `Failure`.
    func spooled(for reader: TileLayout.Reader, in space: SpoolSpace) throws -> Image {
        let layout = TileLayout(
            width: width, height: height, pixelBytes: bytesPerPixel, for: reader)
        let file = try SpoolFile(bytes: TileSpool.bytes(of: layout), in: space)
        let writer = TileSpoolWriter(layout, to: file)
        try streamRows { rows throws(Failure) in
            try writer.append(rows.start, stride: rows.stride, count: rows.area.height)
        }
        let spool = try writer.finish()
        let picture = RegionPicture(
            width: width, height: height, bands: bands, format: format,
            interpretation: interpretation, shape: reader == .rows ? .rows : .squares)
        return try Image.supplied(picture, like: self) { pixels in
            do throws(Failure) {
                try spool.read(pixels.area, into: pixels.start, stride: pixels.stride)
                return nil
            } catch {
                return error.description
            }
        }
    }
}
