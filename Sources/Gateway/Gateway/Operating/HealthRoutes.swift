import AccessKeys
import Edits
import HTTPTypes
import Hummingbird
import JobQueue

/// The routes that report whether the gateway runs and whether it can serve.
enum Health {
    static let routes: [Route] = [
        Route(
            .get, "/healthz", .open, name: "health", group: "gateway",
            "Whether the process answers.",
            answers: [.init(.ok, "It does.", .fields(["status?": .text]))]
        ) { _ in .json(.object(["status": .string("ok")])) },
        Route(
            .get, "/readyz", .open, name: "readiness", group: "gateway",
            "Whether Redis answers the gateway.",
            answers: [.init(.ok, "It does.", .fields(["status?": .text]))]
        ) { call in
            guard call.parts.events.hub.hasContact, call.parts.keys.isReady else {
                throw Problem(
                    .queueUnavailable, "The queue does not answer the gateway.", retryAfter: 1)
            }
            return .json(.object(["status": .string("ok")]))
        },
    ]
}
