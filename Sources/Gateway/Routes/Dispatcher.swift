import AccessKeys
import HTTPTypes
import Hummingbird
import Logging

/// Takes a request to its route: who asks, whether they may, how often; and says what went wrong.
struct Dispatcher: HTTPResponder {
    typealias Context = GatewayContext

    private let router: RouterResponder<GatewayContext>
    private let known: Set<String>

    init(_ routes: [Route], _ parts: GatewayParts, _ authentication: Authentication) {
        let router = Router(context: GatewayContext.self)
        for route in routes {
            router.on(
                RouterPath(route.routerPath), method: route.method,
                responder: CallbackResponder { request, context in
                    await Self.respond(route, request, context, parts, authentication)
                })
        }
        self.router = router.buildResponder()
        known = Set(routes.map(\.routerPath))
    }

    func respond(to request: Request, context: GatewayContext) async throws -> Response {
        do {
            return try await router.respond(to: request, context: context)
        } catch is HTTPError {
            return Problem(
                .unknownPath,
                "Nothing is served at \(request.method.rawValue) of this path; /openapi.json lists what is."
            ).response
        }
    }

    private static func respond(
        _ route: Route, _ request: Request, _ context: GatewayContext, _ parts: GatewayParts,
        _ authentication: Authentication
    ) async -> Response {
        var admission = Authentication.Admission(key: nil, headers: [:])
        do {
            admission = try await authentication.admit(request, to: route)
            var tail: String?
            if route.routerPath.hasSuffix("**") {
                let prefix = route.routerPath.dropLast(2)
                tail = String(request.uri.path.dropFirst(prefix.count))
            }
            let call = Call(
                request: request, route: route, parameters: context.parameters, tail: tail,
                caller: admission.key, channel: context.channel, parts: parts,
                logger: context.logger)
            var response = try await route.handle(call)
            response.headers.append(contentsOf: admission.headers)
            response.headers[.xContentTypeOptions] = "nosniff"
            return response
        } catch {
            let problem = Problem(error)
            if problem.status.kind == .serverError {
                context.logger.error("\(route.method) \(route.path) failed: \(error)")
            }
            var response = problem.response
            response.headers.append(contentsOf: admission.headers)
            response.headers[.xContentTypeOptions] = "nosniff"
            return response
        }
    }
}
