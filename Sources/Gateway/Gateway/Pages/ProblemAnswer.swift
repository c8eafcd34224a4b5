import AccessKeys
import Dashboard
import HTTPTypes
import Hummingbird
import JobQueue
import RenderProtocol

/// A problem as a page for people.
enum ProblemAnswer {
    static func page(
        _ problem: Problem, _ request: Request, _ accepted: Authentication.AcceptedCaller,
        _ queue: QueueName
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
            queue: queue.string)
        var response = Response.page(
            ProblemPage(
                frame, status: problem.status.code, title: problem.title, detail: problem.detail,
                code: problem.code),
            status: problem.status)
        response.headers.append(contentsOf: problem.headers)
        return response
    }
}
