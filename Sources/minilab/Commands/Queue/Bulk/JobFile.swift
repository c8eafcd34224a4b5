import Adjustments
import Files
import Glibc

/// A file of jobs, open for as many passes as are wanted; standard input is copied to a file first.
final class JobFile {
    /// Its name, for errors.
    let path: String
    private let descriptor: Int32

    /// Opens a file; `-` is standard input.
    init(path: String) throws {
        self.path = path == "-" ? "standard input" : path
        let source = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard source >= 0 else {
            throw Failure(
                .ioFailure, "\(path) cannot be opened: \(String(cString: strerror(errno))).")
        }
        var status = stat()
        guard fstat(source, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            descriptor = try Self.spool(source, self.path)
            return
        }
        descriptor = source
    }

    deinit { close(descriptor) }

    /// A pass over all lines.
    func lines() -> LineReader { LineReader(descriptor, path: path) }

    /// SHA-256 of it, in hex.
    func digest() throws -> String {
        try FileDigest.sha256(of: "/proc/self/fd/\(descriptor)").hex
    }

    /// Copies what can be read only once to a file that has no name and goes with the process.
    private static func spool(_ source: Int32, _ name: String) throws -> Int32 {
        let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/var/tmp"
        let file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0o600)
        guard file >= 0 else {
            throw Failure(
                .ioFailure,
                "\(name) cannot be kept in \(folder): \(String(cString: strerror(errno))). Set TMPDIR to a folder "
                    + "with room, or give a file.")
        }
        var block = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = read(source, &block, block.count)
            if count < 0 && errno == EINTR { continue }
            if count == 0 { return file }
            guard count > 0 else {
                let reason = String(cString: strerror(errno))
                close(file)
                throw Failure(.ioFailure, "\(name) cannot be read: \(reason).")
            }
            var written = 0
            while written < count {
                let more = block.withUnsafeBytes {
                    write(file, $0.baseAddress! + written, count - written)
                }
                guard more > 0 else { break }
                written += more
            }
            guard written == count else {
                let reason = String(cString: strerror(errno))
                close(file)
                throw Failure(.ioFailure, "\(name) cannot be kept in \(folder): \(reason).")
            }
        }
    }
}

/// `O_TMPFILE`, which is a macro that Swift cannot read: `__O_TMPFILE | O_DIRECTORY`.
private let O_TMPFILE = 0o20_000_000 | O_DIRECTORY
