public import Edits
import Glibc

/// The last rows of a picture, with their surroundings, for any number of readers.
///
/// Rows are made on request. Each is made once, so a filter that combines a picture with its own blur reads the photo once.
package final class RowWindow {
    package let format: RowFormat
    let capacity: Int
    let margin: Int
    private let edge: EdgeMode
    private let source: any RowSource
    private let memory: UnsafeMutablePointer<Float>
    private let stride: Int
    private let rowSize: Int
    private let outside: PlanarRow?
    private var made = 0

    /// - Parameters:
    ///   - rows: the number of rows to keep: from the oldest to the newest that are needed together.
    ///   - margin: columns that are read to the left and to the right of the picture.
    package init(_ source: any RowSource, rows: Int, margin: Int, edge: EdgeMode) {
        self.source = source
        self.edge = edge
        format = source.format
        capacity = max(1, min(rows, source.format.height))
        // Whole blocks, so that each row begins at the same offset in a cache line.
        self.margin = (margin + 15) & ~15
        stride = (source.format.width + 2 * self.margin + RowFormat.block + 15) & ~15
        // An odd number of cache lines from row to row, so that reads down a column spread over all sets of the cache. There was no
        // gain on a busy machine, but it is free.
        rowSize = (format.planes * stride / 16 | 1) * 16
        // One more row, of zeros, for transparent surroundings.
        memory = RowMemory.zeros((capacity + 1) * rowSize)
        outside =
            edge == .transparent
            ? PlanarRow(
                start: memory + capacity * rowSize + self.margin, stride: stride)
            : nil
    }

    deinit { RowMemory.free(memory) }

    /// Returns a row of the picture, or of its surroundings above and below. Sample 0 is the leftmost of the picture, and
    /// ``margin`` samples can be read on both sides.
    ///
    /// It is valid until ``capacity`` more rows are made.
    package func row(_ y: Int) -> PlanarRow {
        if let outside, y < 0 || y >= format.height { return outside }
        let y = min(max(y, 0), format.height - 1)
        while made <= y { make() }
        precondition(y >= made - capacity, "row \(y) is gone; \(made) are made")
        return slot(y)
    }

    private func slot(_ y: Int) -> PlanarRow {
        PlanarRow(
            start: memory + (y % capacity) * rowSize + margin, stride: stride)
    }

    private func make() {
        let row = slot(made)
        source.next(into: row)
        made += 1
        guard margin > 0 else { return }
        for plane in 0..<format.planes {
            let samples = row[plane]
            let (first, last) =
                edge == .clamp ? (samples[0], samples[format.width - 1]) : (0, 0)
            (samples - margin).update(repeating: first, count: margin)
            (samples + format.width).update(repeating: last, count: margin)
        }
    }
}

/// A separate row for intermediate results.
package final class ScratchRow {
    package let row: PlanarRow
    private let memory: UnsafeMutablePointer<Float>

    /// - Parameter margin: columns on both sides of the width.
    package init(width: Int, planes: Int, margin: Int = 0) {
        let margin = (margin + 15) & ~15
        let stride = (width + 2 * margin + RowFormat.block + 15) & ~15
        memory = RowMemory.zeros(stride * planes)
        row = PlanarRow(start: memory + margin, stride: stride)
    }

    deinit { RowMemory.free(memory) }
}

/// The memory of rows that filters keep: nearly all memory of a filter that reads neighbours.
public enum RowMemory {
    /// Returns the bytes that a filter keeps while it makes the rows of a picture, without making any.
    ///
    /// The rows are set up as for a render, in address space without memory behind it. So the number is exact for any filter.
    public static func bytes(of filter: any NeighbourhoodFilter, on format: RowFormat) -> Int {
        bytes(on: format, of: filter.rows)
    }

    /// Returns the bytes for any code that makes rows from rows.
    package static func bytes(
        on format: RowFormat, of make: (any RowSource) -> any RowSource
    ) -> Int {
        let ledger = Ledger()
        $ledger.withValue(ledger) { _ = make(NoRows(format: format)) }
        return ledger.bytes
    }

    /// Allocates zeros for rows, until ``free(_:)``.
    package static func zeros(_ count: Int) -> UnsafeMutablePointer<Float> {
        let bytes = max(1, count) * MemoryLayout<Float>.stride
        guard let memory = ledger.map({ $0.addresses(bytes) }) ?? aligned(bytes) else {
            fatalError("there are no \(bytes) bytes for rows")
        }
        return memory.bindMemory(to: Float.self, capacity: max(1, count))
    }

    private static let line = 64

    /// Allocates zeros, which take memory only when they are written, preceded by the pointer to be freed.
    private static func aligned(_ bytes: Int) -> UnsafeMutableRawPointer? {
        guard let start = calloc(1, bytes + line) else { return nil }
        // Memory of calloc is aligned to 16 bytes, so there is room for a pointer before the next line.
        let memory = (start + 1).alignedUp(toMultipleOf: line)
        (memory - MemoryLayout<UnsafeMutableRawPointer>.stride).storeBytes(
            of: start, as: UnsafeMutableRawPointer.self)
        return memory
    }

    package static func free(_ memory: UnsafeMutablePointer<Float>) {
        // Memory of a ledger is freed with the ledger.
        guard ledger == nil else { return }
        let pointer = MemoryLayout<UnsafeMutableRawPointer>.stride
        Glibc.free((UnsafeRawPointer(memory) - pointer).load(as: UnsafeMutableRawPointer.self))
    }

    @TaskLocal private static var ledger: Ledger?

    /// `@unchecked Sendable` is safe because only the task that created it accesses it.
    private final class Ledger: @unchecked Sendable {
        private(set) var bytes = 0
        private var mappings: [(start: UnsafeMutableRawPointer, bytes: Int)] = []

        func addresses(_ count: Int) -> UnsafeMutableRawPointer? {
            bytes += count
            // Without PROT_WRITE, addresses are no data that RLIMIT_DATA counts.
            let start = mmap(
                nil, count, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
            guard let start, start != MAP_FAILED else { return nil }
            mappings.append((start, count))
            return start
        }

        deinit { for mapping in mappings { munmap(mapping.start, mapping.bytes) } }
    }

    private final class NoRows: RowSource {
        let format: RowFormat

        init(format: RowFormat) { self.format = format }

        func next(into row: PlanarRow) {}
    }
}

/// A picture whose rows are computed from the surrounding rows of another.
final class WindowRows: RowSource {
    let format: RowFormat
    private let window: RowWindow
    private let make: (_ window: RowWindow, _ y: Int, _ out: PlanarRow) -> Void
    private var y = 0

    /// - Parameters:
    ///   - reach: columns and rows that are read to each side.
    ///   - make: computes row `y` of the picture.
    init(
        _ source: any RowSource, reach: Int, edge: EdgeMode = .clamp,
        make: @escaping (_ window: RowWindow, _ y: Int, _ out: PlanarRow) -> Void
    ) {
        window = RowWindow(source, rows: 2 * reach + 1, margin: reach, edge: edge)
        format = source.format
        self.make = make
    }

    func next(into out: PlanarRow) {
        make(window, y, out)
        y += 1
    }
}

/// A picture with a transparent margin: black with alpha 0.
final class PaddedRows: RowSource {
    let format: RowFormat
    private let source: any RowSource
    private let growth: Extent
    private var y = 0

    init(_ source: any RowSource, by growth: Extent) {
        self.source = source
        self.growth = growth
        format = source.format.grown(by: growth)
    }

    func next(into row: PlanarRow) {
        defer { y += 1 }
        let width = source.format.width
        let isInside = y >= growth.rows && y < growth.rows + source.format.height
        if isInside {
            source.next(
                into: PlanarRow(start: row.start + growth.columns, stride: row.stride))
        }
        for plane in 0..<format.planes {
            let samples = row[plane]
            if isInside {
                samples.update(repeating: 0, count: growth.columns)
                (samples + growth.columns + width).update(repeating: 0, count: growth.columns)
            } else {
                samples.update(repeating: 0, count: format.width)
            }
        }
    }
}

extension RowSource {
    /// Returns the picture with a transparent margin, or itself if the margin has no extent.
    func padded(by growth: Extent) -> any RowSource {
        growth == .none ? self : PaddedRows(self, by: growth)
    }
}
