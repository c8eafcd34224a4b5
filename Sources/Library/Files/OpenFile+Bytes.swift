public import Edits
import Glibc
import SystemPackage

/// The bytes of an open file.
extension OpenFile {
    /// Returns up to `count` bytes from an offset on: fewer at the end of the file, none after an error, which the
    /// decoder meets when it reads.
    public func bytes(from offset: Int, count: Int) -> [UInt8] {
        // The decoder will meet the same error.
        (try? Descriptor.bytes(descriptor, from: offset, count: count)) ?? []
    }

    /// Fills memory from an offset on, up to the end of the file.
    ///
    /// - Returns: the number of bytes.
    /// - Throws: `ioFailure`.
    public func read(
        into memory: UnsafeMutableRawBufferPointer, from offset: Int
    ) throws(Failure) -> Int {
        try Self.describing(
            "\(name) cannot be read", Descriptor.read(descriptor, into: memory, from: offset))
    }

    /// Writes bytes at an offset.
    ///
    /// - Throws: `noSpace`, `ioFailure`.
    public func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(Failure) {
        try Self.describing(
            "\(name) cannot be written", Descriptor.write(descriptor, bytes, at: offset))
    }

    /// Writes bytes at an offset.
    ///
    /// - Throws: `noSpace`, `ioFailure`.
    public func write(_ bytes: [UInt8], at offset: Int) throws(Failure) {
        try Self.describing(
            "\(name) cannot be written", Descriptor.write(descriptor, bytes, at: offset))
    }

    /// Truncates the file, or extends it by zeros.
    ///
    /// - Throws: `noSpace`, `ioFailure`.
    public func cut(to length: Int) throws(Failure) {
        try Self.describing("\(name) cannot be written", Descriptor.cut(descriptor, to: length))
    }
}
