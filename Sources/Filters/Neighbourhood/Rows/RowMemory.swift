public import Adjustments
import Glibc

/// The memory of rows that filters keep: nearly all that a filter that looks at neighbours needs.
public enum RowMemory {
    /// Bytes that a filter keeps while it makes the rows of a picture, without making any.
    ///
    /// The rows are set up as for a render, in addresses that no memory stands behind: so the number is the
    /// render's own, for any filter.
    public static func bytes(of filter: any NeighbourhoodFilter, on format: RowFormat) -> Int {
        bytes(on: format, of: filter.rows)
    }

    /// The same for whatever makes rows from rows.
    package static func bytes(
        on format: RowFormat, of make: (any RowSource) -> any RowSource
    ) -> Int {
        let ledger = Ledger()
        $ledger.withValue(ledger) { _ = make(NoRows(format: format)) }
        return ledger.bytes
    }

    /// Zeros for rows, until ``free(_:)``.
    package static func zeros(_ count: Int) -> UnsafeMutablePointer<Float> {
        let bytes = max(1, count) * MemoryLayout<Float>.stride
        guard let memory = ledger.map({ $0.addresses(bytes) }) ?? aligned(bytes) else {
            fatalError("there are no \(bytes) bytes for rows")
        }
        return memory.bindMemory(to: Float.self, capacity: max(1, count))
    }

    /// A cache line: what memory begins at.
    private static let line = 64

    /// Zeros that no memory stands behind before they are written, with what is to be freed in front of them.
    private static func aligned(_ bytes: Int) -> UnsafeMutableRawPointer? {
        guard let start = calloc(1, bytes + line) else { return nil }
        // Memory of calloc is aligned to 16 bytes, so there is room for a pointer in between.
        let memory = (start + 1).alignedUp(toMultipleOf: line)
        (memory - MemoryLayout<UnsafeMutableRawPointer>.stride).storeBytes(
            of: start, as: UnsafeMutableRawPointer.self)
        return memory
    }

    /// Gives them back.
    package static func free(_ memory: UnsafeMutablePointer<Float>) {
        // Those of a ledger go with it.
        guard ledger == nil else { return }
        let pointer = MemoryLayout<UnsafeMutableRawPointer>.stride
        Glibc.free((UnsafeRawPointer(memory) - pointer).load(as: UnsafeMutableRawPointer.self))
    }

    @TaskLocal private static var ledger: Ledger?

    /// `@unchecked Sendable` is true because only the task that set it up sees it.
    private final class Ledger: @unchecked Sendable {
        private(set) var bytes = 0
        private var mappings: [(start: UnsafeMutableRawPointer, bytes: Int)] = []

        func addresses(_ count: Int) -> UnsafeMutableRawPointer? {
            bytes += count
            let start = mmap(
                nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                -1, 0)
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
