/// The numbers of a process that proc(5) has in its file `status`.
public struct ProcessStatus: Sendable {
    private let file: OpenFile

    /// The kernel's files have about 1.5 KB.
    private static let bytesMax = 8192

    /// Opens the file of a process, by its number or `self`; nil when there is none.
    public init?(_ process: String) {
        do {
            file = try OpenFile(reading: "/proc/\(process)/status")
        } catch {
            return nil  // it is gone, or there is no /proc
        }
    }

    /// The value of a field now, in bytes, which the file gives in kilobytes; nil when the kernel does not say.
    public func bytes(_ field: String) -> Int? {
        String(decoding: file.bytes(from: 0, count: Self.bytesMax), as: UTF8.self)
            .split(separator: "\n").first { $0.hasPrefix(field + ":") }?
            .split(whereSeparator: \.isWhitespace).dropFirst().first
            .flatMap { Int($0) }.map { $0 * 1024 }
    }
}
