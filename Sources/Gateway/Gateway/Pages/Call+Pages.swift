import AccessKeys
import Dashboard
import Edits
import FoundationEssentials
import HTTPTypes
import Hummingbird
import JobQueue
import NIOCore
import RenderProtocol

extension Call {
    /// The current time in ms since 1970.
    var now: Int { Int(Date.now.timeIntervalSince1970 * 1000) }

    func frame() -> Frame {
        Frame(
            viewer: caller.map { Viewer($0, person) },
            csrf: session.map(SessionStore.formToken) ?? "", version: Engine.version,
            queue: parts.queue.name.string,
            notice: query("done").flatMap(PageNotice.init).map(\.notice))
    }

    /// Reads the fields of a form that one of our own pages sent.
    ///
    /// - Throws: `foreignOrigin` if a page of another site sent it, or a page of an expired session.
    func form() async throws -> Form {
        // Strangers send the form of the sign-in page alone.
        let isStranger = caller == nil && session == nil
        let bytes = try await wholeBody(
            atMost: isStranger ? Form.strangerBytesMax : Form.bytesMax)
        let read = try await inTurn(bytes.readableBytes) {
            Form(bytes, pairsMax: isStranger ? Form.strangerPairsMax : Form.pairsMax)
        }
        guard let form = read else { throw Problem(.badBody, "The form cannot be read.") }
        if let session {
            guard form["csrf"] == SessionStore.formToken(of: session) else {
                throw Problem(
                    .foreignOrigin,
                    "The form was not sent by a page of this session. Load the page again.")
            }
        }
        return form
    }

    /// Returns a field of a form that was sent as the query, in which a plus sign is a space.
    func formQuery(_ name: String) -> String? {
        request.uri.query.flatMap {
            Form(ByteBuffer(string: $0), pairsMax: Form.strangerPairsMax)
        }?[name]
    }

    /// Returns a redirect to the page that confirms an action.
    static func seeOther(_ path: String, _ notice: PageNotice? = nil) -> Response {
        var location = path
        if let notice { location += (path.contains("?") ? "&" : "?") + "done=\(notice.rawValue)" }
        return Response(
            status: .seeOther, headers: [.location: location, .cacheControl: "no-store"])
    }
}

extension Viewer {
    /// - Parameter person: the person who acts with the key, if an identity provider named one.
    init(_ key: AccessKey, _ person: String?) {
        self.init(
            name: person ?? (key.label.isEmpty ? key.id : key.label), tenant: key.tenant?.string,
            scopes: Set(key.scopes.map(\.rawValue)))
    }
}

extension Response {
    /// Returns a page of the dashboard as a response.
    static func page(_ page: some Page, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status,
            headers: [
                .contentType: "text/html; charset=utf-8", .cacheControl: "no-store",
                .contentSecurityPolicy: Dashboard.contentSecurityPolicy,
                .referrerPolicy: "same-origin", .crossOriginOpenerPolicy: "same-origin",
            ], body: ResponseBody(byteBuffer: ByteBuffer(string: page.render())))
    }
}
