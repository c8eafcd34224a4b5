/// An error in words.
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
    ///   - status: of HTTP.
    ///   - title: what is wrong, in a few words.
    ///   - detail: what happened, in a sentence.
    ///   - advice: what to do.
    ///   - code: for programs and reports.
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
