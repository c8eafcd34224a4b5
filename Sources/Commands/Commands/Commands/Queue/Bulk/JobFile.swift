import Edits
import Files
import Glibc
import SystemPackage

/// A file of jobs that can be read several times; standard input is copied to a file first.
final class JobFile {
    private let file: OpenFile

    /// The file's name, for errors.
    var path: String { file.name }

    /// Opens a file; `-` is standard input.
    init(path: String) throws(Failure) {
        let source =
            path == "-"
            ? OpenFile(adopting: fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0), name: "standard input")
            : try Self.open(path)
        file = try source.isRegular() ? source : Self.spool(source)
    }

    /// Returns a reader of the jobs.
    ///
    /// - Parameter haveEdit: whether a line without an edit has that of the command.
    func members(haveEdit: Bool) -> MemberLines {
        MemberLines(LineReader(file), haveEdit: haveEdit)
    }

    /// Returns the file's SHA-256 in hex.
    func digest() throws(Failure) -> String { try FileDigest.sha256(of: file).hex }

    /// Opens a file or a pipe for reading.
    static func open(_ path: String) throws(Failure) -> OpenFile {
        try saying("\(path) cannot be opened", OpenFile(opening: path, O_RDONLY))
    }

    private static let blockBytes = 1 << 20

    /// Copies an input that can be read only once to a nameless file, which disappears with the process.
    private static func spool(_ source: OpenFile) throws(Failure) -> OpenFile {
        let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/var/tmp"
        let unkept = "\(source.name) cannot be kept in \(folder)"
        let file = try saying(
            unkept, OpenFile(namelessIn: folder, name: source.name),
            advice: " Set TMPDIR to a folder with room, or give a file.")
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: blockBytes, alignment: 16)
        defer { block.deallocate() }
        while true {
            let count = try saying(
                "\(source.name) cannot be read", Descriptor.read(source.descriptor, into: block))
            if count == 0 { return file }
            try saying(
                unkept, Descriptor.write(file.descriptor, .init(rebasing: block[..<count])))
        }
    }

    private static func saying<Result>(
        _ sentence: String, _ call: @autoclosure () throws(Errno) -> Result, advice: String = ""
    ) throws(Failure) -> Result {
        do throws(Errno) { return try call() } catch {
            throw Failure(.ioFailure, "\(sentence): \(error).\(advice)")
        }
    }
}
