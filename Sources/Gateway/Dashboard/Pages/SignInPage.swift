package struct SignInPage: Page {
    package let frame: Frame
    package let title = "Sign in"
    let problem: String?
    let next: String?
    let provider: Provider?
    let action: String

    package static let template = "sign-in"

    /// - Parameters:
    ///   - problem: the reason for which the last attempt failed, as a sentence.
    ///   - next: the path to open after sign-in, which the form returns in the field `next`.
    ///   - provider: the identity provider's name for people; nil if there is none.
    package init(
        _ frame: Frame, problem: String? = nil, next: String? = nil, provider: String? = nil
    ) {
        self.frame = frame
        self.problem = problem
        self.next = next
        self.provider = provider.map {
            Provider(name: $0, href: Links.providerSignIn(next: next))
        }
        action = Links.signIn
    }
}

struct Provider: View {
    let name: String
    let href: String
}

/// The page after a sign-in with the identity provider, which opens the next page by itself.
///
/// Browsers do not send a session's cookie on a navigation that another site started. They send it on the navigation
/// from this page.
package struct SignedInPage: Page {
    package let frame: Frame
    package let title = "Signed in"
    package let onward: String?
    let next: String

    package static let template = "signed-in"

    /// - Parameter next: the path to open. It must be a path of this gateway; the caller checks that it leads to no
    ///   other site.
    package init(_ frame: Frame, next: String) {
        self.frame = frame
        self.next = next
        onward = next
    }
}
