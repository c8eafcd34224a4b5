import CMinilab
public import Edits
import Glibc
public import SystemPackage

/// Calls on bare descriptors, each repeated until all of its work is done.
///
/// The kernel may do only a part of a call, or end it because of a signal (EINTR). The loops for that are only in
/// this file. The calls block; use them outside Swift's cooperative threads.
///
/// The caller owns the descriptor and keeps it open during the call. Owners of files use ``OpenFile``, whose
/// failures name the file.
public enum Descriptor {
    /// Repeats a call as long as signals interrupt it.
    ///
    /// - Parameter call: returns a negative number and sets `errno` if it fails.
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

    /// Fills memory, up to the end of the file or stream.
    ///
    /// - Parameter offset: the offset in the file, in bytes; nil: the descriptor's own position, which advances.
    ///   Streams support only nil.
    /// - Returns: the number of bytes; smaller than the memory only at the end.
    /// - Throws: the kernel's error. Bytes that were read before it are in the memory.
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

    /// Returns the bytes of a file from an offset on.
    ///
    /// - Parameter count: the most bytes; fewer are returned at the end of the file.
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
    /// - Parameter offset: the offset in the file, in bytes; nil: the descriptor's own position, which advances.
    ///   Streams support only nil.
    /// - Throws: the kernel's error. A part may have been written.
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
            // The loop would never end; no known file system returns 0.
            guard count > 0 else { throw .ioError }
            done += count
        }
    }

    /// Writes all bytes of an array, like the overload for memory.
    public static func write(
        _ descriptor: Int32, _ bytes: [UInt8], at offset: Int? = nil
    ) throws(Errno) {
        try bytes.withUnsafeBufferPointer { bytes throws(Errno) in
            try write(descriptor, UnsafeRawBufferPointer(bytes), at: offset)
        }
    }

    /// Truncates a file, or extends it by zeros.
    ///
    /// - Throws: the kernel's error.
    public static func cut(_ descriptor: Int32, to length: Int) throws(Errno) {
        try uninterrupted { ftruncate(descriptor, length) }
    }

    /// Makes the content of a file or folder durable, so that it survives a power cut.
    ///
    /// - Throws: the kernel's error. The content is then not durable, and the page cache may have lost it too.
    public static func sync(_ descriptor: Int32) throws(Errno) {
        try uninterrupted { fsync(descriptor) }
    }
}

extension Errno {
    /// The error of the preceding call, from `errno`.
    public static var latest: Errno { Errno(rawValue: errno) }
}

/// One end of a local connection that transmits lines together with open files.
public final class DescriptorSocket: Sendable {
    /// The descriptor, valid as long as this object lives.
    public let descriptor: Int32
    /// The most descriptors that are sent with one line. The kernel's limit is 253.
    public static let descriptorsMax = 200

    /// Takes ownership of one end.
    public init(adopting descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Creates two connected ends. The second one is a bare descriptor, to be passed to a program.
    ///
    /// - Throws: `ioFailure`.
    public static func pair() throws(Failure) -> (ours: DescriptorSocket, theirs: Int32) {
        var ends: [Int32] = [-1, -1]
        guard minilab_socket_pair(&ends) == 0 else {
            throw OpenFile.failure("no socket can be made", .latest)
        }
        return (DescriptorSocket(adopting: ends[0]), ends[1])
    }

    /// Closes both directions of the connection.
    public func shutDown() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Sends all bytes. Blocks while the other end does not read.
    ///
    /// - Parameter files: are sent with the first byte.
    /// - Throws: `ioFailure`, also if the other end is closed.
    public func send(_ bytes: [UInt8], with files: [Int32]) throws(Failure) {
        var done = 0
        while done < bytes.count {
            let handed = done == 0 ? files : []
            done += try OpenFile.describing(
                "a request cannot be sent",
                Descriptor.uninterrupted {
                    bytes.withUnsafeBytes {
                        minilab_send_descriptors(
                            descriptor, $0.baseAddress.map { $0 + done }, $0.count - done, handed,
                            handed.count)
                    }
                })
        }
    }

    /// Waits for the next bytes and the files sent with them.
    ///
    /// - Returns: no bytes at the end of the stream.
    /// - Throws: `ioFailure`, also if the files could not be received.
    public func receive(bytesMax: Int) throws(Failure) -> (bytes: [UInt8], files: [Int32]) {
        var bytes = [UInt8](repeating: 0, count: bytesMax)
        var files = [Int32](repeating: -1, count: Self.descriptorsMax)
        var fileCount = 0
        let count = try OpenFile.describing(
            "a request cannot be received",
            Descriptor.uninterrupted {
                minilab_receive_descriptors(
                    descriptor, &bytes, bytes.count, &files, files.count, &fileCount)
            })
        return (Array(bytes[..<count]), Array(files[..<fileCount]))
    }
}

/// The figures of a process in its file `status` (proc(5)).
public struct ProcessStatus: Sendable {
    private let file: OpenFile

    /// The most bytes that are read; the kernel's files have about 1.5 KB.
    private static let bytesMax = 8192

    /// Opens the file of a process, given by its number or `self`; nil if there is none.
    public init?(_ process: String) {
        do {
            file = try OpenFile(reading: "/proc/\(process)/status")
        } catch {
            return nil  // the process has ended, or there is no /proc
        }
    }

    /// Returns the present value of a field, in bytes (the file states kilobytes); nil if the kernel does not
    /// report it.
    public func bytes(_ field: String) -> Int? { count(field).map { $0 * 1024 } }

    /// Returns the present value of a field that is a number; nil if the kernel does not report it.
    public func count(_ field: String) -> Int? {
        String(decoding: file.bytes(from: 0, count: Self.bytesMax), as: UTF8.self)
            .split(separator: "\n").first { $0.hasPrefix(field + ":") }?
            .split(whereSeparator: \.isWhitespace).dropFirst().first
            .flatMap { Int($0) }
    }
}
