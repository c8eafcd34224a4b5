public import Adjustments
import Glibc
import SystemPackage

/// The bytes of an open file.
extension OpenFile {
    /// Up to so many bytes from a place on; fewer at the end, none after an error, which then shows when the
    /// decoder reads.
    public func bytes(from offset: Int, count: Int) -> [UInt8] {
        // The decoder meets the same error.
        (try? Descriptor.bytes(descriptor, from: offset, count: count)) ?? []
    }

    /// Fills memory from a place on, as far as the file goes.
    ///
    /// - Returns: the number of bytes.
    /// - Throws: `ioFailure`.
    public func read(
        into memory: UnsafeMutableRawBufferPointer, from offset: Int
    ) throws(Failure) -> Int {
        try Self.saying(
            "\(name) cannot be read", Descriptor.read(descriptor, into: memory, from: offset))
    }

    /// Writes bytes at a place.
    ///
    /// - Throws: `noSpace`, `ioFailure`.
    public func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(Failure) {
        try Self.saying(
            "\(name) cannot be written", Descriptor.write(descriptor, bytes, at: offset))
    }

    /// Writes bytes at a place.
    ///
    /// - Throws: `noSpace`, `ioFailure`.
    public func write(_ bytes: [UInt8], at offset: Int) throws(Failure) {
        try Self.saying(
            "\(name) cannot be written", Descriptor.write(descriptor, bytes, at: offset))
    }

    /// Cuts the file off, or lengthens it by zeros.
    ///
    /// - Throws: `noSpace`, `ioFailure`.
    public func cut(to length: Int) throws(Failure) {
        try Self.saying("\(name) cannot be written", Descriptor.cut(descriptor, to: length))
    }
}
