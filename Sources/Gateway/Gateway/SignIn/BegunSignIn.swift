import Edits
import FoundationEssentials

/// A sign-in that a browser began. It is written in the `state`, which goes to the provider and comes back with the browser, so that
/// nothing is kept for it: a flood of begun sign-ins costs no memory and ends nobody's.
///
/// The secret is the browser's cookie, 256 random bits that nobody else has: it authenticates the state, and the secrets of the
/// proof are derived from both. So every gateway can finish the sign-in, and a reader of Redis can finish none.
struct BegunSignIn: Sendable, Equatable {
    /// The time that a person may take at the provider.
    static let duration = Duration.seconds(600)
    /// The longest path that the state carries; after a longer one the person lands on the first page.
    static let nextBytesMax = 500
    /// The clocks of two gateways may differ by so much.
    private static let skew = Duration.seconds(60)
    /// The longest state, in bytes: its end, 32 random bytes, the path and the authentication, in base64.
    private static let stateBytesMax = 1000

    /// `<end>.<random>.<path>.<authentication>`: the end in ms since 1970, base 36.
    let state: String
    let proof: SignInProof
    /// The path to open after sign-in.
    let next: String?

    /// Begins a sign-in.
    ///
    /// - Parameters:
    ///   - browser: The cookie.
    ///   - now: The time in ms since 1970.
    init(in browser: String, next: String?, at now: Int) {
        let next = next.flatMap { $0.utf8.count <= Self.nextBytesMax ? $0 : nil }
        let end = String(now + Int(Self.duration / .milliseconds(1)), radix: 36)
        let text = "\(end).\(RandomText.make()).\((next ?? "").utf8.base64URL)"
        self.init(text, browser, next)
    }

    /// Reads the state that a browser brought back; nil if it was not begun in this browser, or is too old.
    init?(state: String, in browser: String, at now: Int) {
        guard state.utf8.count <= Self.stateBytesMax, RandomText.isOne(browser) else { return nil }
        let parts = state.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        let text = parts[..<3].joined(separator: ".")
        guard isSameSecret(String(parts[3]), Self.derived("state", text, browser)),
            let end = Int(parts[0], radix: 36),
            (now...now + Int((Self.duration + Self.skew) / .milliseconds(1))).contains(end),
            let next = Data(base64URL: parts[2])
        else { return nil }
        self.init(text, browser, next.isEmpty ? nil : String(decoding: next, as: UTF8.self))
    }

    private init(_ text: String, _ browser: String, _ next: String?) {
        state = "\(text).\(Self.derived("state", text, browser))"
        proof = SignInProof(
            verifier: Self.derived("verifier", text, browser),
            nonce: Self.derived("nonce", text, browser))
        self.next = next
    }

    private static func derived(_ purpose: String, _ text: String, _ browser: String) -> String {
        HMAC.sha256(of: "\(purpose) \(text)".utf8, key: browser.utf8).base64URL
    }
}

/// The secrets of one sign-in: the provider receives a digest of the first one and returns the second one in its ID token.
package struct SignInProof: Sendable, Equatable {
    /// The code verifier of PKCE (RFC 7636): only the client that started the sign-in can redeem its code.
    package let verifier: String
    /// Binds the ID token to this sign-in (OpenID Connect Core 1.0, 3.1.2.1).
    package let nonce: String

    package init() { self.init(verifier: RandomText.make(), nonce: RandomText.make()) }

    package init(verifier: String, nonce: String) {
        self.verifier = verifier
        self.nonce = nonce
    }

    /// The code challenge, by the method `S256`.
    var challenge: String { SHA256.hash(data: verifier.utf8).base64URL }
}
