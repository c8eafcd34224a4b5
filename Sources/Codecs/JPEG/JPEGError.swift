import CCodecs
import Glibc

/// The reason why a JPEG could not be read or written.
public struct JPEGError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds of reasons that callers handle differently.
    public enum Kind: Sendable, Equatable {
        /// Not a complete JPEG: damaged or truncated. This includes libjpeg-turbo's warnings about lost pixels.
        case damaged
        /// An unsupported kind of JPEG, such as 12 bits per sample.
        case unsupported
        /// More scans, metadata or coefficients than ``JPEGLimits`` allow.
        case overLimit
        /// The library could not allocate memory.
        case outOfMemory
        /// Opening or reading failed, with this errno.
        case notRead(Int32)
        /// Opening or writing failed, with this errno, `ENOSPC` for a full disk.
        case notWritten(Int32)
        /// The store of the coefficients failed.
        case notStored
        /// A misuse by the caller.
        case misused
    }

    /// The reason.
    public let kind: Kind
    /// The message of libjpeg-turbo or of the kernel.
    public let text: String

    init(_ kind: Kind, _ text: String) {
        self.kind = kind
        self.text = text
    }

    init(_ report: minilab_jpeg_report) {
        kind =
            switch minilab_jpeg_status(UInt32(report.status)) {
            case MINILAB_JPEG_DAMAGED: .damaged
            case MINILAB_JPEG_UNSUPPORTED: .unsupported
            case MINILAB_JPEG_OVER_LIMIT: .overLimit
            case MINILAB_JPEG_OUT_OF_MEMORY: .outOfMemory
            case MINILAB_JPEG_READ_FAILED: .notRead(report.system_error)
            case MINILAB_JPEG_WRITE_FAILED: .notWritten(report.system_error)
            case MINILAB_JPEG_STORE_FAILED: .notStored
            default: .misused
            }
        let message = Self.text(report.message)
        text =
            switch kind {
            case .notRead(let number), .notWritten(let number):
                message + ": " + String(cString: strerror(number))
            default: message
            }
    }

    /// Returns the text in one of C's fixed arrays.
    static func text<Characters>(_ array: Characters) -> String {
        withUnsafeBytes(of: array) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    public var description: String { text }
}
