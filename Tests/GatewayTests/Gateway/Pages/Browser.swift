import HTTPTypes
import MinilabTesting

@testable import Gateway

/// A browser on this machine at the pages of a gateway, with the session of a key or signed out. It follows no redirects.
struct Browser {
    let rig: GatewayRig
    private var session: String?

    /// The answer to a request.
    struct Answer {
        let status: Int
        /// The head in lower case, for its fields.
        let head: String
        let body: String

        var isHTML: Bool { head.contains("content-type: text/html") }
        /// Where it leads to, as the field's whole line.
        func leads(to path: String) -> Bool { head.contains("\r\nlocation: \(path)") }
    }

    /// - Parameter key: the text of the key that the session is begun with; nil: signed out.
    init(_ rig: GatewayRig, key: String? = nil) async throws {
        self.rig = rig
        guard let key else { return }
        session = try await rig.parts.signIn.sessions.begin(
            keyID: String(key.split(separator: "_")[1]))
    }

    func get(_ path: String) async throws -> Answer { try await send("GET", path) }

    /// Sends a form of the session's own page.
    ///
    /// - Parameter fields: percent-encoded.
    func post(_ path: String, _ fields: [String: String] = [:]) async throws -> Answer {
        try await send("POST", path, fields)
    }

    /// - Parameters:
    ///   - csrf: what the form carries; nil: what the session's pages give it.
    ///   - site: the sender, as `Sec-Fetch-Site` says it.
    ///   - host: nil: this machine.
    func send(
        _ method: String, _ path: String, _ fields: [String: String] = [:], csrf: String? = nil,
        site: String = "same-origin", host: String? = nil
    ) async throws -> Answer {
        var head =
            "\(method) \(path) HTTP/1.1\r\nHost: \(host ?? "localhost:\(rig.port)")\r\n"
            + "Connection: close\r\nSec-Fetch-Site: \(site)\r\n"
        if let session { head += "Cookie: minilab=\(session)\r\n" }
        var body = ""
        if method == "POST" {
            let token = csrf ?? session.map(SessionStore.formToken) ?? ""
            body = (["csrf=\(token)"] + fields.map { "\($0)=\($1)" }).joined(separator: "&")
            head +=
                "Content-Type: application/x-www-form-urlencoded\r\n"
                + "Content-Length: \(body.utf8.count)\r\n"
        }
        let answer = try await HTTPExchange.send(head + "\r\n" + body, port: rig.port)
        let parts = answer.text.firstRange(of: "\r\n\r\n")
        return Answer(
            status: answer.status ?? 0,
            head: parts.map { answer.text[..<$0.lowerBound].lowercased() } ?? "",
            body: answer.body)
    }
}

extension Route {
    /// A path of it, of things that are not there.
    var examplePath: String {
        path.replacing("{asset...}", with: "none/such.jpg").replacing(/\{[a-z]+\}/, with: "none")
    }
}
