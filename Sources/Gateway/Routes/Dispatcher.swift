import AccessKeys
import HTTPTypes
import Hummingbird
import Logging

/// Takes a request to its route: who asks, whether they may, how often; and says what went wrong.
struct Dispatcher: HTTPResponder {
    typealias Context = GatewayContext

    private let router: RouterResponder<GatewayContext>
    private let routes: [Route]

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
        self.routes = routes
    }

    func respond(to request: Request, context: GatewayContext) async throws -> Response {
        let response = try await router.respond(to: request, context: context)
        // The router answers with an empty 404 when it has no such path, or not with this method.
        guard context.coreContext.endpointPath.value == Self.notFound else { return response }
        let served = routes.filter { $0.matches(request.uri.path) }
        let methods = served.map(\.method.rawValue)
        if !served.isEmpty, !served.contains(where: \.access.isPage),
            let preflight = CrossOrigin.preflight(request, methods: methods)
        {
            return preflight
        }
        guard !methods.isEmpty else {
            return Problem(
                .unknownPath,
                "Nothing is served at this path; /openapi.json lists what is."
            ).response
        }
        var problem = Problem(
            .methodNotAllowed,
            "\(request.method.rawValue) is not served at this path; \(methods.joined(separator: ", ")) is."
        )
        problem.headers[.allow] = methods.joined(separator: ", ")
        return problem.response
    }

    /// Hummingbird's name for the endpoint of a request that has none.
    private static let notFound = "NotFound"

    private static func respond(
        _ route: Route, _ request: Request, _ context: GatewayContext, _ parts: GatewayParts,
        _ authentication: Authentication
    ) async -> Response {
        var admission = Authentication.Admission(key: nil, session: nil, headers: [:])
        do {
            admission = try await authentication.admit(request, to: route)
            var tail: String?
            if route.routerPath.hasSuffix("**") {
                let prefix = route.routerPath.dropLast(2)
                tail = String(request.uri.path.dropFirst(prefix.count))
            }
            let call = Call(
                request: request, route: route, parameters: context.parameters, tail: tail,
                caller: admission.key, session: admission.session, channel: context.channel,
                parts: parts,
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
            var response =
                route.access.isPage
                ? ProblemAnswer.page(problem, request, admission, parts) : problem.response
            response.headers.append(contentsOf: admission.headers)
            response.headers[.xContentTypeOptions] = "nosniff"
            return response
        }
    }
}
