/// The page of an error.
package struct ProblemPage: Page {
    package let frame: Frame
    package let title: String
    let status: Int
    let detail: String
    let advice: String?
    let code: String?
    let homeHref: String

    package static let template = "problem"

    /// - Parameters:
    ///   - status: the HTTP status.
    ///   - title: the fault in a few words.
    ///   - detail: the fault in a sentence.
    ///   - advice: the remedy.
    ///   - code: the code, for programs and bug reports.
    package init(
        _ frame: Frame, status: Int, title: String, detail: String, advice: String? = nil,
        code: String? = nil
    ) {
        self.frame = frame
        self.title = title
        self.status = status
        self.detail = detail
        self.advice = advice
        self.code = code
        homeHref = Links.now
    }
}
