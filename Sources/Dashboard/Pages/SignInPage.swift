/// The page where one signs in.
package struct SignInPage: Page {
    package let frame: Frame
    package let title = "Sign in"
    let problem: String?
    let next: String?
    let providerHref: String?
    let action: String

    package static let template = "sign-in"

    /// - Parameters:
    ///   - problem: why the last try failed, in a sentence.
    ///   - next: the path to go to afterwards; comes back in the field `next`.
    ///   - providerHref: where one signs in with an identity provider; nil when there is none.
    package init(
        _ frame: Frame, problem: String? = nil, next: String? = nil, providerHref: String? = nil
    ) {
        self.frame = frame
        self.problem = problem
        self.next = next
        self.providerHref = providerHref
        action = Links.signIn
    }
}
