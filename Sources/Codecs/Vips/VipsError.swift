import CVips

/// An error of libvips: the operation, its arguments, and libvips' message.
public struct VipsError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The operation's nickname, such as `jpegload`.
    public let operation: String
    /// The relevant arguments, in readable form.
    public let arguments: String
    /// libvips' message, trimmed; never empty.
    public let text: String

    /// Creates an error of this binding.
    init(operation: String, arguments: String, text: String) {
        self.operation = operation
        self.arguments = arguments
        self.text = text
    }

    /// Reads and clears libvips' message buffer, which all threads of the process share.
    ///
    /// `vips_error_buffer_copy` copies and clears under libvips' lock, so that another thread's message is not torn.
    static func drainingBuffer(operation: String, arguments: String = "") -> VipsError {
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

    /// The message if libvips has none.
    public static let noReason = "libvips gave no reason"

    public var description: String {
        arguments.isEmpty ? "\(operation): \(text)" : "\(operation)(\(arguments)): \(text)"
    }
}
