/// One check of `minilab library check`, with its result.
struct LibraryFinding: Encodable {
    enum Verdict: String, Encodable {
        case ok
        /// The check passed; something could be better or could not be determined.
        case note
        /// Workers can use the library, but something else fails.
        case warning
        case failed
    }

    /// The operation that was tried.
    let check: String
    let verdict: Verdict
    /// The fault and its remedy; nil if there is none.
    let sentence: String?

    var line: String {
        "\(verdict.rawValue): \(check)" + (sentence.map { ": " + $0 } ?? "")
    }
}
