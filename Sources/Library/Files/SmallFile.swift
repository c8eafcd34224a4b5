import Glibc
public import SystemPackage

/// Files and streams that settings and flags name, read whole.
public enum SmallFile {
    /// Returns the bytes of a file; one more than `limit`, if it has more.
    public static func bytes(_ path: String, atMost limit: Int) throws(Errno) -> [UInt8] {
        try bytes(
            of: OpenFile(
                adopting: try Descriptor.uninterrupted { open(path, O_RDONLY | O_CLOEXEC) },
                name: path), atMost: limit)
    }

    /// Returns the bytes of an open file or stream, from its position; one more than `limit`, if it has more.
    public static func bytes(of file: OpenFile, atMost limit: Int) throws(Errno) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count <= limit {
            let wanted = min(blockBytes, limit + 1 - bytes.count)
            var failure: Errno?
            let block = [UInt8](unsafeUninitializedCapacity: wanted) { memory, filled in
                do throws(Errno) {
                    filled = try Descriptor.read(
                        file.descriptor, into: UnsafeMutableRawBufferPointer(memory))
                } catch {
                    failure = error
                }
            }
            if let failure { throw failure }
            bytes += block
            if block.count < wanted { break }
        }
        return bytes
    }

    /// The most bytes of one read, so that a high limit costs no memory.
    private static let blockBytes = 1 << 16
}
