import AccessKeys
import Dashboard
import Edits
import HTTPTypes
import Hummingbird
import JobQueue
import Logging
import Telemetry
import Tracing

/// The responder that passes a request to its route after the checks of key, scope and rate, and turns errors into
/// responses.
struct Dispatcher: HTTPResponder {
    typealias Context = GatewayContext

    private let router: RouterResponder<GatewayContext>
    private let routes: [Route]
    private let metrics: GatewayMetrics

    init(_ routes: [Route], _ parts: CallParts, _ authentication: Authentication) {
        let router = Router(context: GatewayContext.self)
        let heads = Set(routes.filter { $0.method == .head }.map(\.path))
        for route in routes {
            @Sendable func answer(_ request: Request, _ context: GatewayContext) async -> Response {
                await RequestSpan.around(
                    route, request, parts.limits.traceWishes,
                    from: authentication.caller(of: request, context.channel)
                ) {
                    await Self.measure(route, request.method, parts.metrics) {
                        await Self.respond(route, request, context, parts, authentication)
                    }
                }
            }
            let path = RouterPath(route.routerPath)
            router.on(path, method: route.method, responder: CallbackResponder(callback: answer))
            // HEAD is served wherever GET is (RFC 9110, 9.3.2).
            guard route.method == .get, !heads.contains(route.path) else { continue }
            router.on(
                path, method: .head,
                responder: CallbackResponder { await answer($0, $1).createHeadResponse() })
        }
        self.router = router.buildResponder()
        self.routes = routes
        metrics = parts.metrics
    }

    func respond(to request: Request, context: GatewayContext) async throws -> Response {
        let start = ContinuousClock.now
        let response = try await router.respond(to: request, context: context)
        // The router returns an empty 404 for an unknown path and for an unknown method.
        guard context.coreContext.endpointPath.value == Self.notFound else { return response }
        let answer = unserved(request)
        metrics.record(GatewayMetrics.noRoute, answer.status, after: .now - start)
        return answer
    }

    /// Returns the answer to a request that no route serves.
    private func unserved(_ request: Request) -> Response {
        let parts = request.uri.path.split(separator: "/")
        let served = routes.filter { $0.matches(parts) }
        var methods = served.map(\.method.rawValue)
        if methods.contains("GET"), !methods.contains("HEAD") { methods.append("HEAD") }
        if !served.isEmpty, !served.contains(where: \.access.isPage),
            let preflight = CrossOrigin.preflight(request, methods: methods)
        {
            return preflight
        }
        guard !methods.isEmpty else {
            var problem = Problem(
                .unknownPath,
                "No resource exists at this path; /openapi.json lists the paths.")
            problem.headers.append(contentsOf: CrossOrigin.refusal(request))
            return problem.response
        }
        var problem = Problem(
            .methodNotAllowed,
            "\(request.method.rawValue) is not served at this path; \(methods.joined(separator: ", ")) is."
        )
        problem.headers[.allow] = methods.joined(separator: ", ")
        if !served.contains(where: \.access.isPage) {
            problem.headers.append(contentsOf: CrossOrigin.refusal(request))
        }
        return problem.response
    }

    /// Hummingbird's endpoint name for a request without a route.
    private static let notFound = "NotFound"

    /// Counts a request and its response, with the bytes of its body.
    private static func measure(
        _ route: Route, _ method: HTTPRequest.Method, _ metrics: GatewayMetrics,
        _ respond: () async -> Response
    ) async -> Response {
        let start = ContinuousClock.now
        if route.acceptsUpload { metrics.uploads(1) }
        defer { if route.acceptsUpload { metrics.uploads(-1) } }
        var response = await respond()
        metrics.record(
            route.name, response.status, after: .now - start,
            signsIn: route.method == .post && route.path == Links.signIn
                || route.path == Links.providerReturn)
        guard method != .head else { return response }
        // A body that is counted as it is written needs three system calls, for its head, itself and its end, instead
        // of one.
        if let bytes = response.body.contentLength, bytes <= BoundedDownload.pieceBytes {
            metrics.sends(bytes)
        } else {
            let body = response.body
            // `ResponseBody.map` forgets the length, without which a client of HTTP/1.0 cannot know that the end is missing.
            response.body = ResponseBody(contentLength: body.contentLength) { writer in
                try await body.write(
                    writer.map { part in
                        metrics.sends(part.readableBytes)
                        return part
                    })
            }
        }
        return response
    }

    /// Refuses content in a request for a resource. Nobody reads it, and an event stream would hold it for as long as it lasts.
    ///
    /// RFC 9110, 9.3.1: content of a GET has no meaning, and a server may refuse it.
    ///
    /// - Throws: `badBody`.
    private static func checkBody(_ route: Route, _ request: Request) throws(Problem) {
        guard [.get, .head].contains(route.method) else { return }
        let length = request.headers[.contentLength].flatMap { Int($0) } ?? 0
        guard length > 0 || request.headers[.transferEncoding] != nil else { return }
        throw Problem(
            .badBody,
            "A \(request.method.rawValue) has no body here, and this one has \(length > 0 ? "\(length) bytes" : "one"). "
                + "Send what it asks for in the path and the query.")
    }

    private static func tooManyConnections(_ parts: CallParts) -> Problem {
        Problem(
            .tooManyConnections,
            "Too many requests are answered at a time: of \(parts.limits.border.connectionsMax), a tenant has at most as many as "
                + "are free. Ask again when some have ended.", retryAfter: 5)
    }

    private static func respond(
        _ route: Route, _ request: Request, _ context: GatewayContext, _ parts: CallParts,
        _ authentication: Authentication
    ) async -> Response {
        var accepted = Authentication.AcceptedCaller(key: nil, session: nil, headers: [:])
        do {
            try checkBody(route, request)
            accepted = try await authentication.accept(request, to: route)
            if let key = accepted.key {
                guard
                    parts.limits.connections.begin(context.channel, key.owner, keyID: key.id)
                else { throw tooManyConnections(parts) }
            }
            let call = Call(
                request: request, parameters: context.parameters,
                tail: route.tail(of: request.uri.path), caller: accepted.key,
                session: accepted.session, person: accepted.person,
                channel: context.channel, parts: parts, logger: context.logger)
            var response = try await route.handle(call)
            response.body = try parts.limits.answers.counted(
                response,
                for: accepted.key?.owner
                    ?? .address(OpenConnections.address(context.channel.remoteAddress)),
                over: context.channel)
            response.headers.append(contentsOf: accepted.headers)
            response.headers[.xContentTypeOptions] = "nosniff"
            // The sign-in page is an answer with the status of a refusal.
            await parts.limits.refusals.hold(
                response.status, to: authentication.caller(of: request, context.channel))
            return response
        } catch {
            let problem = Problem(error)
            await parts.limits.refusals.hold(
                problem.status, to: authentication.caller(of: request, context.channel))
            if problem.status.kind == .serverError {
                context.logger.error("\(route.method) \(route.path) failed: \(error)")
            } else {
                // Counted by route and status; what anybody can send at will is no line of the log.
                context.logger.debug("\(route.method) \(route.path) was refused: \(error)")
            }
            var response =
                route.access.isPage
                ? ProblemAnswer.page(problem, request, accepted, parts.queue.name)
                : problem.response
            // A body that was charged after its head has told what is left since.
            for field in accepted.headers where !response.headers.contains(field.name) {
                response.headers.append(field)
            }
            if accepted.key == nil, accepted.session == nil, !route.access.isPage,
                problem.code != ProblemCode.foreignOrigin.rawValue
            {
                response.headers.append(contentsOf: CrossOrigin.refusal(request))
            }
            response.headers[.xContentTypeOptions] = "nosniff"
            return response
        }
    }
}

/// The span of a request, which is a part of its client's trace if the client sent a `traceparent`.
///
/// Names are OpenTelemetry's (<https://opentelemetry.io/docs/specs/semconv/http/http-spans/>). Neither the path is said,
/// which names jobs and assets, nor the query.
enum RequestSpan {
    /// Answers a request within its span.
    ///
    /// - Parameter client: by whom the request's wish is counted.
    static func around(
        _ route: Route, _ request: Request, _ wishes: TraceWishes,
        from client: @autoclosure () -> String,
        _ answer: () async -> Response
    ) async -> Response {
        // More than one is none, as the specification says.
        let sent = request.headers[values: .traceparent]
        let parent = sent.count == 1 ? Traceparent(sent[0]) : nil
        let attributes: SpanAttributes = [
            "http.request.method": .string(request.method.rawValue),
            "http.route": .string(route.path),
        ]
        let name = "\(route.method.rawValue) \(route.path)"
        let context = wishes.context(following: parent, of: client())
        return await inSpan(name, .server, in: context, with: attributes) { span in
            let response = await answer()
            span.attributes["http.response.status_code"] = Int(response.status.code)
            if response.status.kind == .serverError {
                span.setStatus(SpanStatus(code: .error))
                span.attributes["error.type"] = "\(response.status.code)"
            }
            return response
        }
    }
}
