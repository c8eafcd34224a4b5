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
