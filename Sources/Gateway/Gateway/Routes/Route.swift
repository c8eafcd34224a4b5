package import AccessKeys
import Edits
package import HTTPTypes
import Hummingbird

/// One operation of the gateway: its path, its permitted callers, and its responses.
///
/// The router, the OpenAPI document and the test of all rights are generated from the routes; nothing else is served. A
/// class, because every call carries a reference to its route.
package final class Route: Sendable {
    package let method: HTTPRequest.Method
    /// The path, such as `/v1/jobs/{id}`; a last part `{asset...}` matches the rest of the path.
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

    package enum Access: Sendable, Equatable {
        case open
        /// A key with this scope. The route decides which of the other callers' objects it may see.
        case key(Scope)
        /// A key with this scope and without a tenant, because the route concerns the whole queue.
        case operatorKey(Scope)
        case openPage
        /// A page for people who are signed in with a key of this scope.
        case page(Scope)
        /// A page for people who are signed in with a key of this scope and without a tenant.
        case operatorPage(Scope)

        package var scope: Scope? {
            switch self {
            case .open, .openPage: nil
            case .key(let scope), .operatorKey(let scope), .page(let scope),
                .operatorPage(let scope):
                scope
            }
        }

        package var isForOperators: Bool {
            switch self {
            case .operatorKey, .operatorPage: true
            case .open, .openPage, .key, .page: false
            }
        }

        package var isPage: Bool {
            switch self {
            case .openPage, .page, .operatorPage: true
            case .open, .key, .operatorKey: false
            }
        }
    }

    /// A parameter of a call outside its body.
    struct Parameter: Sendable {
        enum Location: String { case path, query, header }

        let name: String
        let location: Location
        let isRequired: Bool
        let schema: JSONValue
        let summary: String

        static func path(_ name: String, _ summary: String, schema: JSONValue = .text) -> Self {
            Self(name: name, location: .path, isRequired: true, schema: schema, summary: summary)
        }

        static func query(
            _ name: String, _ summary: String, schema: JSONValue = .text, isRequired: Bool = false
        ) -> Self {
            var schema = schema
            // Lets the parameter be empty: an empty field of a form has no effect.
            if !isRequired, case .object(let fields) = schema,
                fields["type"] == .string("integer") || fields["type"] == .string("boolean")
            {
                schema = .any(schema, .text(0...0))
            }
            return Self(
                name: name, location: .query, isRequired: isRequired, schema: schema,
                summary: summary)
        }

        static func header(
            _ name: HTTPField.Name, _ summary: String, schema: JSONValue = .text
        ) -> Self {
            Self(
                name: name.canonicalName, location: .header, isRequired: false, schema: schema,
                summary: summary)
        }
    }

    /// The body of a request.
    enum Body: Sendable {
        /// The route has no body; if a request has one, it is not read.
        case none
        /// A JSON document of a schema.
        case json(JSONValue)
        /// A JSON document that may be left out.
        case optionalJSON(JSONValue)
        /// JSON documents of one schema, one a line.
        case lines(JSONValue)
        case file
        /// The fields of a page's form.
        case form
    }

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

        static func empty(
            _ status: HTTPResponse.Status, _ summary: String, headers: [String] = []
        ) -> Self {
            Self(status, summary, contentType: nil, headers: headers)
        }
    }

    /// - Parameters:
    ///   - group: the route's group in the OpenAPI document.
    ///   - answers: the successful responses; those of problems follow from the other arguments.
    ///   - problems: statuses of problems beside those of all routes of this kind.
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

    /// Creates a page or a part of one, which is not in the OpenAPI document.
    convenience init(
        _ method: HTTPRequest.Method, _ path: String, _ access: Access, _ summary: String,
        handle: @escaping @Sendable (Call) async throws -> Response
    ) {
        self.init(
            method, path, access, name: "\(method) \(path)", group: "pages", summary, answers: [],
            handle: handle)
    }

    /// Returns the problems with which a route of this kind may answer.
    private static func problems(
        _ own: [HTTPResponse.Status], _ access: Access, _ body: Body, _ path: String
    ) -> [Answer] {
        // Request targets and headers that are too long are refused before any route is called.
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

    /// Whether the body may be long: a file, or members of a batch.
    var acceptsUpload: Bool {
        switch body {
        case .file, .lines: true
        case .none, .json, .optionalJSON, .form: false
        }
    }

    /// The path in the router's syntax.
    let routerPath: String

    /// Returns the rest of a path, as it is in the request, that `{asset...}` matches; nil if the route has none.
    func tail(of path: String) -> String? {
        guard routerPath.hasSuffix("**") else { return nil }
        var rest = path.utf8[...]
        for _ in 0..<routerPath.utf8.count(where: { $0 == UInt8(ascii: "/") }) {
            guard let slash = rest.firstIndex(of: UInt8(ascii: "/")) else { return nil }
            rest = rest[rest.index(after: slash)...]
        }
        return String(Substring(rest))
    }

    /// Returns whether a path belongs to this route.
    func matches(_ path: String) -> Bool { matches(path.split(separator: "/")) }

    /// Returns whether the parts of a path are those of this route.
    func matches(_ parts: [Substring]) -> Bool {
        let own = routerPath.split(separator: "/")
        guard own.last == "**" ? parts.count >= own.count : parts.count == own.count else {
            return false
        }
        return zip(own, parts).allSatisfy { $0 == "**" || $0.hasPrefix("{") || $0 == $1 }
    }
}
