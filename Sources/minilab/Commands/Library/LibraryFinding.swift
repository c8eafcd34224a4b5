/// A thing that `minilab library check` tried, and how it went.
struct LibraryFinding: Encodable {
    enum Verdict: String, Encodable {
        case ok
        /// All works; something can be better, or could not be seen.
        case note
        /// Workers work; something else does not.
        case warning
        case failed
    }

    /// The thing that was tried.
    let check: String
    let verdict: Verdict
    /// The fault and what to do about it; nil when there is none.
    let sentence: String?

    var line: String {
        "\(verdict.rawValue): \(check)" + (sentence.map { ": " + $0 } ?? "")
    }
}
