import Edits
import HTTPTypes
import Webhooks

extension Problem {
    /// Creates a problem from an error of webhooks, with the place in the body that it refers to.
    init(_ error: WebhookError) {
        switch error.code {
        case .invalidURL: self.init(.invalidURL, error.message, pointer: "#/url")
        case .unknownHost: self.init(.unknownHost, error.message, pointer: "#/url")
        case .refusedAddress: self.init(.refusedAddress, error.message, pointer: "#/url")
        case .invalidEventTypes:
            self.init(.invalidEventTypes, error.message, pointer: "#/eventTypes")
        case .invalidTime:
            self.init(
                Failure(.invalidValue, error.message), status: .unprocessableContent,
                pointer: "#/since")
        case .noSuchEndpoint, .noSuchDelivery: self.init(.notFound, error.message)
        case .eventGone: self.init(.gone, error.message)
        case .tooManyEndpoints: self.init(.tooManyEndpoints, error.message)
        case .contended, .redis:
            self.init(
                .queueUnavailable, "Webhooks cannot be read or changed now; ask again.",
                retryAfter: Self.retrySeconds)
        case .damagedEndpoint, .laterFormat, .invalidSecret, .invalidRange:
            self.init(
                .internalError, "The record of this endpoint cannot be read. The fault was logged.")
        }
    }

    private init(_ code: ProblemCode, _ detail: String, pointer: String) {
        self.init(code, detail)
        self.pointer = pointer
    }
}
