import HTTPTypes
import Hummingbird

/// The origin under which browsers reach the pages, and the check that a request comes from one of our own pages.
struct PageOrigin: Sendable {
    /// The origin, such as `https://photos.example.com`; nil for this machine only, under its local names.
    let origin: String?

    /// The names under which a browser reaches its own machine, where a cookie needs no TLS.
    private static let ownNames: Set<String> = ["localhost", "127.0.0.1", "[::1]"]

    /// Whether cookies are sent over TLS only.
    var isSecure: Bool { origin?.hasPrefix("https://") ?? false }

    /// The cookies of the pages.
    enum Cookie {
        /// The session. Browsers do not send it on navigations from another site.
        case session
        /// A started sign-in with an identity provider. Browsers send it on the navigation back from the provider.
        case signIn

        fileprivate var name: String {
            switch self {
            case .session: "minilab"
            case .signIn: "minilab-signin"
            }
        }

        fileprivate var sameSite: String {
            switch self {
            case .session: "Strict"
            case .signIn: "Lax"
            }
        }
    }

    /// Returns the name of a cookie. Browsers restrict names with `__Host-` to this host and to TLS.
    private func name(of cookie: Cookie) -> String {
        (isSecure ? "__Host-" : "") + cookie.name
    }

    /// Returns the field that sets a cookie for a number of seconds; 0 removes the cookie.
    func cookie(_ cookie: Cookie, _ value: String, seconds: Int) -> String {
        "\(name(of: cookie))=\(value); Path=/; Max-Age=\(seconds); HttpOnly; SameSite=\(cookie.sameSite)"
            + (isSecure ? "; Secure" : "")
    }

    /// Returns the value of a cookie in a request.
    func value(of cookie: Cookie, _ request: Request) -> String? {
        let cookieName = name(of: cookie)
        return request.headers[values: .cookie].lazy
            .flatMap { $0.split(separator: ";") }
            .compactMap { pair -> String? in
                let parts = pair.trimmingSpaces.split(separator: "=", maxSplits: 1)
                guard parts.count == 2, parts[0] == cookieName, parts[1].utf8.count <= 100 else {
                    return nil
                }
                return String(parts[1])
            }.first
    }

    /// Refuses requests under a foreign host name. A site that resolves its own name to this address (DNS rebinding)
    /// would otherwise share the origin of our pages.
    func checkHost(_ request: Request) throws(Problem) {
        let host = request.head.authority ?? ""
        if let origin {
            guard origin.hasSuffix("://\(host)") else { throw refusal(host) }
        } else {
            let end =
                host.hasPrefix("[") ? host.firstIndex(of: "]").map { host.index(after: $0) } : nil
            let name = end.map { host[..<$0] } ?? host.prefix { $0 != ":" }
            guard Self.ownNames.contains(String(name)) else { throw refusal(host) }
        }
    }

    private func refusal(_ host: String) -> Problem {
        Problem(
            .foreignOrigin,
            origin == nil
                ? "Pages are served to this machine alone, as http://localhost. For others, put a proxy with TLS in front and "
                    + "give its address with --origin."
                : "Pages are not served as \(String(host.prefix(80)).debugDescription).")
    }

    /// Refuses requests that a page of another site sent, according to Fetch Metadata or else to `Origin`.
    func checkSender(_ request: Request) throws(Problem) {
        if let site = request.headers[.secFetchSite] {
            guard site == "same-origin" else {
                throw Problem(.foreignOrigin, "The form was sent by a page of another site.")
            }
        } else if let sender = request.headers[.origin] {
            let own = origin ?? "http://\(request.head.authority ?? "")"
            guard sender == own else {
                throw Problem(.foreignOrigin, "The form was sent by a page of another site.")
            }
        }
    }
}
