import Adjustments

/// A resource of little-endian 32-bit floats.
enum FloatFile {
    /// Bytes from which on a resource is not looked at: what is a little too long gets a sentence that says by how
    /// much.
    static func bytesMax(of count: Int) -> Int { max(4 * count, 1 << 20) }

    /// Its numbers.
    ///
    /// - Throws: `badResource` when it has not so many, or one is not finite.
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
