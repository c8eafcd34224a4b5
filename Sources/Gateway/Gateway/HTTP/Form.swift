import Edits
import NIOCore

/// The fields of a form, as a browser sends them.
struct Form {
    /// The most bytes of a form.
    static let bytesMax = 64 << 10
    /// The most bytes and pairs of a form of a caller that is not signed in. Decoding 11,000 pairs takes 30 ms of a core.
    static let strangerBytesMax = 4 << 10
    static let strangerPairsMax = 16
    /// The most pairs of a form.
    static let pairsMax = 2048

    private var fields: [String: [String]] = [:]

    /// Parses a form; returns nil if it is malformed, or has more pairs.
    init?(_ bytes: ByteBuffer, pairsMax: Int) {
        guard let text = String(validating: bytes.readableBytesView, as: UTF8.self) else {
            return nil
        }
        let pairs = text.split(separator: "&", maxSplits: pairsMax)
        guard pairs.count <= pairsMax else { return nil }
        for pair in pairs {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = String(parts[0]).replacing("+", with: " ").percentDecoded,
                let value = (parts.count > 1 ? String(parts[1]) : "")
                    .replacing("+", with: " ").percentDecoded
            else { return nil }
            fields[name, default: []].append(value)
        }
    }

    /// Returns the first value of a field; nil if it is missing or empty.
    subscript(_ name: String) -> String? { fields[name]?.first.flatMap { $0.isEmpty ? nil : $0 } }

    func all(_ name: String) -> [String] { fields[name] ?? [] }
}
