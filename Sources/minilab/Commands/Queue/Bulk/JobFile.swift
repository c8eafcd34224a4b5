import Adjustments
import Files
import Glibc
import SystemPackage

/// A file of jobs, open for as many passes as are wanted; standard input is copied to a file first.
final class JobFile {
    private let file: OpenFile

    /// Its name, for errors.
    var path: String { file.name }

    /// Opens a file; `-` is standard input.
    init(path: String) throws(Failure) {
        let source =
            path == "-"
            ? OpenFile(adopting: fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0), name: "standard input")
            : try Self.open(path)
        file = try source.isRegular() ? source : Self.spool(source)
    }

    /// A pass over all lines.
    func lines() -> LineReader { LineReader(file) }

    /// SHA-256 of it, in hex.
    func digest() throws(Failure) -> String { try FileDigest.sha256(of: file).hex }

    /// Opens a file for reading, or a pipe.
    static func open(_ path: String) throws(Failure) -> OpenFile {
        do throws(Errno) {
            return try OpenFile(opening: path, O_RDONLY)
        } catch {
            throw Failure(.ioFailure, "\(path) cannot be opened: \(error).")
        }
    }

    private static let blockBytes = 1 << 20

    /// Copies what can be read only once to a file that has no name and goes with the process.
    private static func spool(_ source: OpenFile) throws(Failure) -> OpenFile {
        let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/var/tmp"
        let file: OpenFile
        do throws(Errno) {
            file = try OpenFile(namelessIn: folder, name: source.name)
        } catch {
            throw Failure(
                .ioFailure,
                "\(source.name) cannot be kept in \(folder): \(error). Set TMPDIR to a folder "
                    + "with room, or give a file.")
        }
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: blockBytes, alignment: 16)
        defer { block.deallocate() }
        while true {
            let count = try read(source, into: block)
            if count == 0 { return file }
            do throws(Errno) {
                try Descriptor.write(file.descriptor, .init(rebasing: block[..<count]))
            } catch {
                throw Failure(.ioFailure, "\(source.name) cannot be kept in \(folder): \(error).")
            }
        }
    }

    private static func read(
        _ source: OpenFile, into block: UnsafeMutableRawBufferPointer
    ) throws(Failure) -> Int {
        do throws(Errno) {
            return try Descriptor.read(source.descriptor, into: block)
        } catch {
            throw Failure(.ioFailure, "\(source.name) cannot be read: \(error).")
        }
    }
}
