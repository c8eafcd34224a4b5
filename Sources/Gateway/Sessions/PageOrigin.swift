import HTTPTypes
import Hummingbird

/// Where browsers find the pages, and whether a request of theirs comes from a page of ours.
struct PageOrigin: Sendable {
    /// Such as `https://photos.example.com`; nil: this machine alone, by its own names.
    let origin: String?

    /// Names under which a browser reaches the machine that it runs on; a cookie needs no TLS there.
    private static let ownNames: Set<String> = ["localhost", "127.0.0.1", "[::1]"]

    /// Whether cookies go over TLS alone.
    var isSecure: Bool { origin?.hasPrefix("https://") ?? false }

    /// The cookies of the pages.
    enum Cookie {
        /// The session. It goes along on no way that another site began.
        case session
        /// A sign-in with an identity provider that was begun. It goes along on the way back from there.
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

    /// The name of a cookie; browsers keep `__Host-` to the host and to TLS.
    private func name(of cookie: Cookie) -> String {
        (isSecure ? "__Host-" : "") + cookie.name
    }

    /// The field that sets a cookie, for so many seconds; 0 removes it.
    func cookie(_ cookie: Cookie, _ value: String, seconds: Int) -> String {
        "\(name(of: cookie))=\(value); Path=/; Max-Age=\(seconds); HttpOnly; SameSite=\(cookie.sameSite)"
            + (isSecure ? "; Secure" : "")
    }

    /// The value of a cookie in a request.
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

    /// Refuses a page under another name than ours: a site that lets its name lead here (DNS rebinding) would be the
    /// origin of our pages.
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

    /// Refuses what another site's page sends: by what browsers say of themselves (Fetch Metadata), else by Origin.
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
