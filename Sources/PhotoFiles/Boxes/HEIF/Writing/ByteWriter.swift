/// Writes consecutive bytes of boxes.
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    /// Appends a big-endian number of `count` bytes; higher bits are ignored.
    mutating func add(_ number: Int, _ count: Int) {
        for shift in (0..<count).reversed() {
            bytes.append(UInt8(truncatingIfNeeded: number >> (8 * shift)))
        }
    }

    mutating func add(_ more: some Sequence<UInt8>) { bytes += more }

    /// Appends characters.
    mutating func add(_ text: String) { bytes += text.utf8 }

    /// Appends a box whose content the closure writes.
    mutating func box(_ type: String, _ content: (inout ByteWriter) -> Void) {
        let start = bytes.count
        add(0, 4)
        add(type)
        content(&self)
        let length = bytes.count - start
        for index in 0..<4 {
            bytes[start + index] = UInt8(truncatingIfNeeded: length >> (24 - 8 * index))
        }
    }

    /// Appends a full box, with version and flags.
    mutating func fullBox(
        _ type: String, version: Int = 0, flags: Int = 0, _ content: (inout ByteWriter) -> Void
    ) {
        box(type) { box in
            box.add(version, 1)
            box.add(flags, 3)
            content(&box)
        }
    }
}
