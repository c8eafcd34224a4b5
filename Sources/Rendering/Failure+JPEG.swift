import Edits
import Glibc
import Codecs

extension Failure {
    /// Creates the failure for an error while a JPEG is read or written.
    init(_ error: JPEGError, photo: String) {
        let code: FailureCode =
            switch error.kind {
            case .damaged: .damagedPhoto
            case .unsupported, .overLimit: .unsupportedFormat
            case .outOfMemory: .outOfMemory
            case .notWritten(ENOSPC), .notWritten(EDQUOT), .notWritten(EFBIG): .noSpace
            case .notRead, .notWritten: .ioFailure
            case .misused, .notStored: .internalError
            }
        self.init(code, rendering: photo, "\(error)")
    }
}
