import Edits

/// A resource of little-endian 32-bit floats.
enum FloatFile {
    /// Returns the most bytes of a resource that are read. A slightly too long resource is still read, so that the error can state
    /// its length.
    static func bytesMax(of count: Int) -> Int { max(4 * count, 1 << 20) }

    /// Reads the numbers of a file.
    ///
    /// - Throws: `badResource` if it has another number of them, or one is not finite.
    static func read(
        _ bytes: [UInt8], named name: String, count: Int, for filter: String
    ) throws(Failure) -> [Float] {
        guard bytes.count == 4 * count else {
            throw Failure(
                .badResource,
                "\(name) has \(bytes.count) bytes; \(filter) expects \(count) floats, which are "
                    + "\(4 * count) bytes.")
        }
        let numbers = bytes.withUnsafeBytes { buffer in
            (0..<count).map { index in
                Float(
                    bitPattern: UInt32(
                        littleEndian: buffer.loadUnaligned(
                            fromByteOffset: 4 * index, as: UInt32.self)))
            }
        }
        if let index = numbers.firstIndex(where: { !$0.isFinite }) {
            throw Failure(
                .badResource, "\(name): float \(index) is \(numbers[index]); expected a finite one."
            )
        }
        return numbers
    }
}
