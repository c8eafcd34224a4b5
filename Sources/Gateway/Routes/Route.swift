package import AccessKeys
import Adjustments
package import HTTPTypes
import Hummingbird

/// One thing that the gateway can be asked: how it is called, who may, and what it answers.
///
/// The router, the OpenAPI document and the test of who may do what are made from these; nothing is served that is no
/// route. One object each, because every call carries its own.
package final class Route: Sendable {
    package let method: HTTPRequest.Method
    /// Such as `/v1/jobs/{id}`; a last part `{asset...}` takes the rest of the path.
    package let path: String
    package let access: Access
    /// The name of the operation in the OpenAPI document.
    package let name: String
    /// One sentence for the OpenAPI document.
    package let summary: String
    let group: String
    let parameters: [Parameter]
    let body: Body
    let answers: [Answer]
    let handle: @Sendable (Call) async throws -> Response

    /// The callers that a route has.
    package enum Access: Sendable, Equatable {
        /// Anybody.
        case open
        /// A key with this scope. What it may see of others' is decided by the route.
        case key(Scope)
        /// A key with this scope that has no tenant: it concerns the whole queue.
        case operatorKey(Scope)
        /// A page for anybody.
        case openPage
        /// A page for who has signed in with a key of this scope.
        case page(Scope)
        /// A page for who has signed in with a key of this scope that has no tenant.
        case operatorPage(Scope)

        /// The scope that is needed, if any.
        package var scope: Scope? {
            switch self {
            case .open, .openPage: nil
            case .key(let scope), .operatorKey(let scope), .page(let scope),
                .operatorPage(let scope):
                scope
            }
        }

        /// Whether it concerns the whole queue.
        package var isForOperators: Bool {
            switch self {
            case .operatorKey, .operatorPage: true
            case .open, .openPage, .key, .page: false
            }
        }

        /// Whether people see it in a browser.
        package var isPage: Bool {
            switch self {
            case .openPage, .page, .operatorPage: true
            case .open, .key, .operatorKey: false
            }
        }
    }

    /// Something that a call says beside its body.
    struct Parameter: Sendable {
        enum Place: String { case path, query, header }

        let name: String
        let place: Place
        let isRequired: Bool
        let schema: JSONValue
        let summary: String

        static func path(_ name: String, _ summary: String, schema: JSONValue = .text) -> Self {
            Self(name: name, place: .path, isRequired: true, schema: schema, summary: summary)
        }

        static func query(
            _ name: String, _ summary: String, schema: JSONValue = .text, isRequired: Bool = false
        ) -> Self {
            var schema = schema
            // A field of a form that was left empty means nothing.
            if !isRequired, case .object(let words) = schema,
                words["type"] == .string("integer") || words["type"] == .string("boolean")
            {
                schema = .any(schema, .text(0...0))
            }
            return Self(
                name: name, place: .query, isRequired: isRequired, schema: schema, summary: summary)
        }

        static func header(
            _ name: HTTPField.Name, _ summary: String, schema: JSONValue = .text
        ) -> Self {
            Self(
                name: name.canonicalName, place: .header, isRequired: false, schema: schema,
                summary: summary)
        }
    }

    /// The body of a call.
    enum Body: Sendable {
        /// There is none; one that comes is not read.
        case none
        /// A JSON document of a schema.
        case json(JSONValue)
        /// A JSON document that may be left out.
        case optionalJSON(JSONValue)
        /// JSON documents of a schema, one a line.
        case lines(JSONValue)
        /// A file.
        case file
        /// Fields of a form of a page.
        case form
    }

    /// One answer of a route.
    struct Answer: Sendable {
        let status: HTTPResponse.Status
        let summary: String
        let contentType: String?
        let schema: JSONValue
        let headers: [String]

        init(
            _ status: HTTPResponse.Status, _ summary: String, _ schema: JSONValue = .anything,
            contentType: String? = "application/json", headers: [String] = []
        ) {
            self.status = status
            self.summary = summary
            self.schema = schema
            self.contentType = contentType
            self.headers = headers
        }

        /// One without a body.
        static func empty(
            _ status: HTTPResponse.Status, _ summary: String, headers: [String] = []
        ) -> Self {
            Self(status, summary, contentType: nil, headers: headers)
        }
    }

    /// - Parameters:
    ///   - group: what it belongs to, for the document.
    ///   - answers: when all is well; those of problems are known from the rest.
    ///   - problems: statuses of problems beside those that every route of its kind has.
    init(
        _ method: HTTPRequest.Method, _ path: String, _ access: Access, name: String, group: String,
        _ summary: String, parameters: [Parameter] = [], body: Body = .none, answers: [Answer],
        problems: [HTTPResponse.Status] = [],
        handle: @escaping @Sendable (Call) async throws -> Response
    ) {
        self.method = method
        self.path = path
        routerPath = path.replacing("{asset...}", with: "**")
        self.access = access
        self.name = name
        self.group = group
        self.summary = summary
        self.parameters = parameters
        self.body = body
        self.answers = answers + Self.problems(problems, access, body, path)
        self.handle = handle
    }

    /// A page or a part of one; it is not in the document of the API.
    convenience init(
        _ method: HTTPRequest.Method, _ path: String, _ access: Access, _ summary: String,
        handle: @escaping @Sendable (Call) async throws -> Response
    ) {
        self.init(
            method, path, access, name: "\(method) \(path)", group: "pages", summary, answers: [],
            handle: handle)
    }

    /// The problems that a route of its kind may answer with.
    private static func problems(
        _ own: [HTTPResponse.Status], _ access: Access, _ body: Body, _ path: String
    ) -> [Answer] {
        // The border refuses targets and headers that are too long, before any route is asked.
        var statuses =
            own + [.badRequest, .uriTooLong, .requestHeaderFieldsTooLarge, .serviceUnavailable]
        if access != .open { statuses += [.unauthorized, .forbidden, .tooManyRequests] }
        if case .none = body {} else { statuses += [.requestTimeout, .unsupportedMediaType] }
        if path.contains("{") { statuses.append(.notFound) }
        switch body {
        case .json, .optionalJSON: statuses += [.contentTooLarge, .unprocessableContent]
        case .lines, .form: statuses += [.contentTooLarge, .unprocessableContent]
        case .file, .none: break
        }
        return Set(statuses.map(\.code)).sorted().map { code in
            let status = HTTPResponse.Status(code: code)
            return Answer(
                status, status.reasonPhrase, .schema("Problem"),
                contentType: Problem.contentType)
        }
    }

    /// Whether its body may be long: a file, or members of a batch.
    var takesUpload: Bool {
        switch body {
        case .file, .lines: true
        case .none, .json, .optionalJSON, .form: false
        }
    }

    /// The path as the router reads it.
    let routerPath: String

    /// Whether a path is one of this route's.
    func matches(_ path: String) -> Bool {
        let own = routerPath.split(separator: "/")
        let parts = path.split(separator: "/")
        guard own.last == "**" ? parts.count >= own.count : parts.count == own.count else {
            return false
        }
        return zip(own, parts).allSatisfy { $0 == "**" || $0.hasPrefix("{") || $0 == $1 }
    }
}
