public import Adjustments
import Glibc

/// Copies a photo as it is: for an edit that changes nothing.
public enum FileCopy {
    private static let chunkBytes = 1 << 20

    /// Copies a file; whether it is a whole photo is not looked at.
    ///
    /// - Throws: `ioFailure`, `noSpace`; what is written then is not the whole file.
    public static func copy(_ source: String, to target: String) throws(Failure) {
        let input = open(source, O_RDONLY | O_CLOEXEC)
        guard input >= 0 else { throw failure("\(source) cannot be read") }
        defer { close(input) }
        try copy(input, called: source, to: target)
    }

    /// Copies what is left of an open file.
    ///
    /// - Parameter source: what a failure calls it.
    /// - Throws: `ioFailure`, `noSpace`; what is written then is not the whole file.
    public static func copy(
        _ input: CInt, called source: String, to target: String
    ) throws(Failure) {
        let output = open(target, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard output >= 0 else { throw failure("\(target) cannot be written") }
        defer { close(output) }
        var buffer = [UInt8](repeating: 0, count: chunkBytes)
        while true {
            let count = read(input, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure("\(source) cannot be read") }
            if count == 0 { return }
            var done = 0
            while done < count {
                let written = buffer.withUnsafeBytes {
                    Glibc.write(output, $0.baseAddress.map { $0 + done }, count - done)
                }
                if written < 0, errno == EINTR { continue }
                guard written >= 0 else { throw failure("\(target) cannot be written") }
                done += written
            }
        }
    }

    private static func failure(_ sentence: String) -> Failure {
        let code: FailureCode =
            switch errno {
            case ENOSPC, EDQUOT, EFBIG: .noSpace
            case ENAMETOOLONG: .invalidValue
            default: .ioFailure
            }
        let reason = String(cString: strerror(errno))
        return Failure(code, "\(sentence): \(reason).")
    }
}
