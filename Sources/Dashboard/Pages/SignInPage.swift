/// The page where one signs in.
package struct SignInPage: Page {
    package let frame: Frame
    package let title = "Sign in"
    let problem: String?
    let next: String?
    let provider: Provider?
    let action: String

    package static let template = "sign-in"

    /// - Parameters:
    ///   - problem: why the last try failed, in a sentence.
    ///   - next: the path to go to afterwards; comes back in the field `next`.
    ///   - provider: the identity provider's name for people; nil when there is none.
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

/// An identity provider where one signs in.
struct Provider: View {
    let name: String
    let href: String
}

/// The page that leads on from the identity provider by itself.
///
/// A browser sends the cookie of a session on no way that another site began; on the way from this page it does.
package struct SignedInPage: Page {
    package let frame: Frame
    package let title = "Signed in"
    package let onward: String?
    let next: String

    package static let template = "signed-in"

    /// - Parameter next: the path to go to, one of this gateway: a stranger's is not to come here.
    package init(_ frame: Frame, next: String) {
        self.frame = frame
        self.next = next
        onward = next
    }
}
