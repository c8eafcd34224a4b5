import Glibc
public import SystemPackage

/// Calls on bare descriptors, each repeated until all of its work is done.
///
/// The kernel may do a part of a call only, or end it because a signal came (EINTR). The loops for that are in this file
/// and nowhere else. They block; callers keep them off Swift's cooperative threads.
///
/// A descriptor belongs to the caller, who keeps it open meanwhile. Whoever owns a file uses ``OpenFile``, whose failures
/// name it.
public enum Descriptor {
    /// Repeats a call for as long as signals interrupt it.
    ///
    /// - Parameter call: returns a negative number and sets `errno` when it fails.
    /// - Throws: the kernel's error, which is never `interrupted`.
    @discardableResult
    public static func uninterrupted<Number: SignedInteger>(
        _ call: () -> Number
    ) throws(Errno) -> Number {
        while true {
            let number = call()
            if number >= 0 { return number }
            let error = Errno.latest
            if error != .interrupted { throw error }
        }
    }

    /// Fills memory, as far as the file or stream goes.
    ///
    /// - Parameter offset: the place in the file, in bytes; nil for the descriptor's own place, which moves on. A stream
    ///   has no other.
    /// - Returns: the number of bytes; fewer than the memory has only at the end.
    /// - Throws: the kernel's error; what was read before it is in the memory.
    public static func read(
        _ descriptor: Int32, into memory: UnsafeMutableRawBufferPointer, from offset: Int? = nil
    ) throws(Errno) -> Int {
        var done = 0
        while done < memory.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: memory[done...])
            let count = try uninterrupted {
                guard let offset else {
                    return Glibc.read(descriptor, rest.baseAddress, rest.count)
                }
                return pread(descriptor, rest.baseAddress, rest.count, offset + done)
            }
            if count == 0 { break }
            done += count
        }
        return done
    }

    /// The bytes of a file from a place on.
    ///
    /// - Parameter count: most bytes; where the file ends before, there are fewer.
    /// - Throws: the kernel's error.
    public static func bytes(
        _ descriptor: Int32, from offset: Int = 0, count: Int
    ) throws(Errno) -> [UInt8] {
        var trouble: Errno?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { memory, filled in
            do throws(Errno) {
                filled = try read(
                    descriptor, into: UnsafeMutableRawBufferPointer(memory), from: offset)
            } catch {
                trouble = error
            }
        }
        if let trouble { throw trouble }
        return bytes
    }

    /// Writes all bytes.
    ///
    /// - Parameter offset: the place in the file, in bytes; nil for the descriptor's own place, which moves on. A stream
    ///   has no other.
    /// - Throws: the kernel's error; a part may be written then.
    public static func write(
        _ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int? = nil
    ) throws(Errno) {
        var done = 0
        while done < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
            let count = try uninterrupted {
                guard let offset else {
                    return Glibc.write(descriptor, rest.baseAddress, rest.count)
                }
                return pwrite(descriptor, rest.baseAddress, rest.count, offset + done)
            }
            // It would go on for ever; no file system does it.
            guard count > 0 else { throw .ioError }
            done += count
        }
    }

    /// As the other, for bytes of an array.
    public static func write(
        _ descriptor: Int32, _ bytes: [UInt8], at offset: Int? = nil
    ) throws(Errno) {
        try bytes.withUnsafeBufferPointer { bytes throws(Errno) in
            try write(descriptor, UnsafeRawBufferPointer(bytes), at: offset)
        }
    }

    /// Cuts a file off, or lengthens it by zeros.
    ///
    /// - Throws: the kernel's error.
    public static func cut(_ descriptor: Int32, to length: Int) throws(Errno) {
        try uninterrupted { ftruncate(descriptor, length) }
    }

    /// Makes what was written to a file or folder last through a power cut.
    ///
    /// - Throws: the kernel's error: it did not last, and what is in the page cache may be lost too.
    public static func sync(_ descriptor: Int32) throws(Errno) {
        try uninterrupted { fsync(descriptor) }
    }
}

extension Errno {
    /// The error of the call before, by `errno`.
    public static var latest: Errno { Errno(rawValue: errno) }
}
