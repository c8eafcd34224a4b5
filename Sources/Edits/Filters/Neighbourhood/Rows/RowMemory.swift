public import Edits
import Glibc

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

    /// A cache line, the alignment of memory.
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

    /// Frees the memory.
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
