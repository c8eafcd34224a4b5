public import Adjustments
import CSpool
import Glibc
import SystemPackage

/// One end of a local connection over which lines and open files travel together.
public final class DescriptorSocket: Sendable {
    /// The descriptor; valid as long as this object lives.
    public let descriptor: Int32
    /// Most descriptors that travel with one line: the kernel's bound is 253.
    public static let descriptorsMax = 200

    /// Takes over one end.
    public init(adopting descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Two ends that are connected; the other one is a bare descriptor, for a program that is started.
    ///
    /// - Throws: `ioFailure`.
    public static func pair() throws(Failure) -> (ours: DescriptorSocket, theirs: Int32) {
        var ends: [Int32] = [-1, -1]
        guard minilab_socket_pair(&ends) == 0 else {
            throw OpenFile.failure("no socket can be made", .latest)
        }
        return (DescriptorSocket(adopting: ends[0]), ends[1])
    }

    /// Tells the other end that nothing more comes.
    public func shutDown() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Sends all bytes; blocks while the other end does not read.
    ///
    /// - Parameter files: go with the first byte.
    /// - Throws: `ioFailure`, also when the other end is closed.
    public func send(_ bytes: [UInt8], with files: [Int32]) throws(Failure) {
        var done = 0
        while done < bytes.count {
            let handed = done == 0 ? files : []
            done += try OpenFile.saying(
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

    /// Waits for the next bytes, and the files that came with them.
    ///
    /// - Returns: no bytes at the end.
    /// - Throws: `ioFailure`, also when files could not be taken over.
    public func receive(bytesMax: Int) throws(Failure) -> (bytes: [UInt8], files: [Int32]) {
        var bytes = [UInt8](repeating: 0, count: bytesMax)
        var files = [Int32](repeating: -1, count: Self.descriptorsMax)
        var fileCount = 0
        let count = try OpenFile.saying(
            "a request cannot be received",
            Descriptor.uninterrupted {
                minilab_receive_descriptors(
                    descriptor, &bytes, bytes.count, &files, files.count, &fileCount)
            })
        return (Array(bytes[..<count]), Array(files[..<fileCount]))
    }
}
