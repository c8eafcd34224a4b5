import Glibc
public import SystemPackage

/// Small files and streams that settings name.
public enum SmallFile {
    /// Returns the bytes of a file; one more than `limit`, if it has more.
    public static func bytes(_ path: String, atMost limit: Int) throws(Errno) -> [UInt8] {
        let file = OpenFile(
            adopting: try Descriptor.uninterrupted { open(path, O_RDONLY | O_CLOEXEC) }, name: path)
        var bytes = [UInt8](repeating: 0, count: limit + 1)
        var (count, failure) = (0, nil as Errno?)
        bytes.withUnsafeMutableBytes { memory in
            do throws(Errno) { count = try Descriptor.read(file.descriptor, into: memory) } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return Array(bytes.prefix(count))
    }
}
