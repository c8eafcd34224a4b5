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

/// The confirmation that a page shows after a form. The URL has a code and no text, because anyone could put text into
/// a link.
enum PageNotice: String {
    case cancelled, stopping, replayed, triedAsDraft, replayStarted, replayStopped, paused, resumed,
        limited
    case published, discarded, undone, redone, repaired, revoked, tested, notAccepted, sentAgain,
        deleted
    case saved, signedOut

    var notice: Notice {
        switch self {
        case .cancelled: Notice(.done, "Cancelled.")
        case .stopping: Notice(.done, "Its worker was asked to stop it.")
        case .replayed: Notice(.done, "Started again.")
        case .triedAsDraft:
            Notice(.done, "This job makes the draft; see it on the page of its asset.")
        case .replayStarted: Notice(.done, "The replay runs.")
        case .replayStopped:
            Notice(.done, "The replay is stopped; the jobs that it started continue.")
        case .paused: Notice(.done, "Paused; what runs is finished.")
        case .resumed: Notice(.done, "Workers begin jobs again.")
        case .limited: Notice(.done, "The limits hold from now on.")
        case .published: Notice(.done, "A job that publishes the draft is on its way.")
        case .discarded: Notice(.done, "A job that discards the draft is on its way.")
        case .undone: Notice(.done, "A job that undoes the last edit is on its way.")
        case .redone: Notice(.done, "A job that redoes the edit is on its way.")
        case .repaired: Notice(.done, "What could be mended was mended.")
        case .revoked: Notice(.done, "The key is revoked on every gateway.")
        case .tested: Notice(.done, "The endpoint accepted the test.")
        case .notAccepted: Notice(.trouble, "The endpoint did not accept it; its answer is below.")
        case .sentAgain: Notice(.done, "Sent again, and accepted.")
        case .deleted: Notice(.done, "The endpoint is deleted.")
        case .saved: Notice(.done, "Saved.")
        case .signedOut: Notice(.done, "You are signed out.")
        }
    }
}

struct Form {
    /// The most bytes of a form.
    static let bytesMax = 64 << 10
    /// The most bytes and pairs of a form of a caller that is not signed in. Decoding 11,000 pairs takes 30 ms of a core.
    static let strangerBytesMax = 4 << 10
    static let strangerPairsMax = 16
    /// The most pairs of a form.
    static let pairsMax = 2048

    private var fields: [String: [String]] = [:]

    /// Parses a form; returns nil if it is malformed, or has more pairs.
    init?(_ bytes: ByteBuffer, pairsMax: Int) {
        guard let text = String(validating: bytes.readableBytesView, as: UTF8.self) else {
            return nil
        }
        let pairs = text.split(separator: "&", maxSplits: pairsMax)
        guard pairs.count <= pairsMax else { return nil }
        for pair in pairs {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = String(parts[0]).replacing("+", with: " ").percentDecoded,
                let value = (parts.count > 1 ? String(parts[1]) : "")
                    .replacing("+", with: " ").percentDecoded
            else { return nil }
            fields[name, default: []].append(value)
        }
    }

    /// Returns the first value of a field; nil if it is missing or empty.
    subscript(_ name: String) -> String? { fields[name]?.first.flatMap { $0.isEmpty ? nil : $0 } }

    func all(_ name: String) -> [String] { fields[name] ?? [] }
}

/// A problem as a page for people.
enum ProblemAnswer {
    static func page(
        _ problem: Problem, _ request: Request, _ accepted: Authentication.AcceptedCaller,
        _ parts: GatewayParts
    ) -> Response {
        let signedOut: Set<String> = [
            ProblemCode.sessionEnded.rawValue, ProblemCode.revokedKey.rawValue,
            ProblemCode.expiredKey.rawValue, ProblemCode.unknownKey.rawValue,
        ]
        // A request for a part of a page, such as its live stream, cannot show the sign-in page.
        let isNavigation = (request.headers[.secFetchMode] ?? "navigate") == "navigate"
        if signedOut.contains(problem.code), request.method == .get, isNavigation {
            return Call.seeOther(Links.query(Links.signIn, [("next", request.uri.path)]))
        }
        let frame = Frame(
            viewer: accepted.key.map { Viewer($0, accepted.person) },
            csrf: accepted.session.map(SessionStore.formToken) ?? "", version: Engine.version,
            queue: parts.queue.name.string)
        var response = Response.page(
            ProblemPage(
                frame, status: problem.status.code, title: problem.title, detail: problem.detail,
                code: problem.code),
            status: problem.status)
        response.headers.append(contentsOf: problem.headers)
        return response
    }
}
