import Adjustments
import Glibc

/// Reads resources whole.
enum ResourceFile {
    /// A file's bytes.
    ///
    /// - Throws: `badResource` when it cannot be read or has more than `bytesMax` bytes.
    static func bytes(of path: String, bytesMax: Int) throws(Failure) -> [UInt8] {
        guard let file = fopen(path, "rb") else {
            throw Failure(
                .badResource, "\(path) cannot be opened: \(String(cString: strerror(errno))).")
        }
        defer { fclose(file) }
        var status = stat()
        guard fstat(fileno(file), &status) == 0, status.st_size <= bytesMax else {
            throw Failure(
                .badResource,
                "\(path) has \(status.st_size) bytes; at most \(bytesMax) are read for this filter."
            )
        }
        let size = Int(status.st_size)
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            count = fread(buffer.baseAddress, 1, size, file)
        }
        guard bytes.count == size else {
            throw Failure(.badResource, "\(path) ended after \(bytes.count) of \(size) bytes.")
        }
        return bytes
    }
}

/// A resource of little-endian 32-bit floats.
enum FloatFile {
    /// Its numbers.
    ///
    /// - Throws: `badResource` when it has not so many, or one is not finite.
    static func read(_ path: String, count: Int, for filter: String) throws(Failure) -> [Float] {
        let bytes = try ResourceFile.bytes(of: path, bytesMax: max(4 * count, 1 << 20))
        guard bytes.count == 4 * count else {
            throw Failure(
                .badResource,
                "\(path) has \(bytes.count) bytes; \(filter) expects \(count) floats, which are "
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
                .badResource, "\(path): float \(index) is \(numbers[index]); expected a finite one."
            )
        }
        return numbers
    }
}
