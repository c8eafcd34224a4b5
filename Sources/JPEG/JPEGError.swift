import CJPEG
import Glibc

/// Why a JPEG could not be read or written.
public struct JPEGError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Reasons that ask for different answers.
    public enum Kind: Sendable, Equatable {
        /// No whole JPEG: damaged, or cut off. Also what libjpeg-turbo only warns of when pixels are
        /// lost by it.
        case damaged
        /// A JPEG of a kind that is not read, such as 12 bits per sample.
        case unsupported
        /// More scans, metadata or coefficients than ``JPEGLimits`` allow.
        case overLimit
        /// The library got no memory.
        case outOfMemory
        /// Opening or reading failed; the kernel's number.
        case notRead(Int32)
        /// Opening or writing failed; the kernel's number, `ENOSPC` for a full disk.
        case notWritten(Int32)
        /// The store of the coefficients failed.
        case notStored
        /// A fault of the caller.
        case misused
    }

    /// The reason.
    public let kind: Kind
    /// libjpeg-turbo's or the kernel's words.
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
        let words = Self.words(report.message)
        text =
            switch kind {
            case .notRead(let number), .notWritten(let number):
                words + ": " + String(cString: strerror(number))
            default: words
            }
    }

    /// The words in one of C's fixed arrays.
    static func words<Words>(_ array: Words) -> String {
        withUnsafeBytes(of: array) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    public var description: String { text }
}
