import CVips

/// What libvips refused: which operation, with which arguments, and its own words.
public struct VipsError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The operation's nickname, such as `jpegload`.
    public let operation: String
    /// The arguments that matter, as a person would write them.
    public let arguments: String
    /// What libvips said, trimmed; never empty.
    public let text: String

    /// Makes an error of our own binding.
    init(operation: String, arguments: String, text: String) {
        self.operation = operation
        self.arguments = arguments
        self.text = text
    }

    /// Takes libvips' words out of its buffer, which is one for the whole process.
    ///
    /// `vips_error_buffer_copy` copies and clears under libvips' lock, so that no other thread's
    /// text is torn.
    static func taking(operation: String, arguments: String = "") -> VipsError {
        var text = ""
        if let buffer = vips_error_buffer_copy() {
            text = String(cString: buffer)
            g_free(buffer)
        }
        text = text.split(whereSeparator: \.isNewline).joined(separator: "; ")
        return VipsError(
            operation: operation, arguments: arguments,
            text: text.isEmpty ? noReason : text)
    }

    /// Our words when libvips has none.
    public static let noReason = "libvips gave no reason"

    public var description: String {
        arguments.isEmpty ? "\(operation): \(text)" : "\(operation)(\(arguments)): \(text)"
    }
}
