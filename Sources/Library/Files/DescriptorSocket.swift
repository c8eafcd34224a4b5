public import Edits
import CMinilab
import Glibc
import SystemPackage

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
