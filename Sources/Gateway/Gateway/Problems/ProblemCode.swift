import HTTPTypes

/// The gateway's own reasons for refusing a call or failing it. The set is closed.
///
/// A fault of an edit, a photo or an asset has a code of `FailureCode` instead, as in events. Codes are never renamed
/// or reused.
package enum ProblemCode: String, Sendable, CaseIterable {
    // Faults of the caller's credentials and quotas.
    /// The route needs a key, and the request has none.
    case missingKey
    /// The text of the key is malformed.
    case malformedKey
    /// There is no such key.
    case unknownKey
    /// The key has expired.
    case expiredKey
    /// The key was revoked.
    case revokedKey
    /// The session of the page has expired.
    case sessionEnded
    /// The sign-in with the identity provider did not start in this browser, has expired or was used.
    case signInOver
    /// The identity provider refused, or its ID token is invalid.
    case signInRefused
    /// No role of the person maps to a usable key.
    case noRole
    /// The key lacks the route's scope.
    case scopeMissing
    /// The route concerns the whole queue, and the key belongs to a tenant.
    case tenantKey
    /// A page of another origin sent the request.
    case foreignOrigin
    /// The gateway's Redis user lacks a permission.
    case notPermitted
    /// The key has exceeded its request rate.
    case tooManyRequests
    /// The tenant has reached its limit of unfinished jobs.
    case backlogFull
    /// The tenant's jobs and batches take as many bytes of Redis as they may.
    case storedFull
    /// The key has used up its upload bytes of the day.
    case uploadQuota
    /// The tenant has its share of the open streams.
    case tooManyStreams
    /// The tenant has its share of the requests that are answered at a time.
    case tooManyConnections
    /// The key sends as many originals at a time as it may, or its tenant has its share of the uploads.
    case tooManyUploads
    /// The key tries as many webhooks at a time as it may, or its tenant has its share of the trials.
    case tooManyTrials

    // Faults of the request.
    /// No route has this path.
    case unknownPath
    /// The path exists, but not with this method.
    case methodNotAllowed
    /// A parameter or header is missing or wrong.
    case badParameter
    /// The body is not JSON, or its fields are wrong.
    case badBody
    /// The body exceeds its limit of bytes.
    case bodyTooLarge
    /// The request does not declare the length of its body.
    case lengthRequired
    /// No byte of the requested range exists.
    case unsatisfiableRange
    /// The object does not exist, or it belongs to another tenant.
    case notFound
    /// The object existed, but its record is gone.
    case gone
    /// The URL of a webhook has a form that is not allowed.
    case invalidURL
    /// The host of a webhook's URL has no address.
    case unknownHost
    /// The URL of a webhook leads to an address to which nothing may be sent.
    case refusedAddress
    /// An event type is unknown, or there are none or too many.
    case invalidEventTypes

    // Conflicts with the current state.
    /// A job or batch with this name exists with other content.
    case conflict
    /// The idempotency key was used before with other content.
    case idempotencyMismatch
    /// The job completed, failed or is being published, so the change is too late.
    case tooLate
    /// The members before these are missing.
    case gap
    /// The batch accepts no more members.
    case batchClosed
    /// A precondition of the request failed.
    case preconditionFailed
    /// The number of jobs differs from the expected number.
    case countChanged
    /// The tenant or the queue has reached its limit of webhooks.
    case tooManyEndpoints

    // Faults of the servers behind the gateway.
    /// Redis does not answer.
    case queueUnavailable
    /// Redis is full.
    case queueFull
    /// The identity provider does not answer, or its answer is invalid.
    case providerUnavailable
    /// The library does not answer.
    case libraryUnavailable
    /// The library has no space left.
    case noSpace
    /// An internal fault.
    case internalError

    var status: HTTPResponse.Status {
        switch self {
        case .missingKey, .malformedKey, .unknownKey, .expiredKey, .revokedKey, .sessionEnded:
            .unauthorized
        case .scopeMissing, .tenantKey, .foreignOrigin, .notPermitted, .signInOver, .signInRefused,
            .noRole:
            .forbidden
        case .tooManyRequests, .backlogFull, .storedFull, .uploadQuota, .tooManyStreams,
            .tooManyConnections, .tooManyUploads, .tooManyTrials:
            .tooManyRequests
        case .unknownPath, .notFound: .notFound
        case .methodNotAllowed: .methodNotAllowed
        case .badParameter, .badBody: .badRequest
        case .bodyTooLarge: .contentTooLarge
        case .lengthRequired: .lengthRequired
        case .unsatisfiableRange: .rangeNotSatisfiable
        case .gone: .gone
        case .conflict, .tooLate, .gap, .batchClosed, .countChanged, .tooManyEndpoints: .conflict
        case .idempotencyMismatch, .invalidURL, .unknownHost, .refusedAddress, .invalidEventTypes:
            .unprocessableContent
        case .preconditionFailed: .preconditionFailed
        case .queueUnavailable, .queueFull, .providerUnavailable, .libraryUnavailable:
            .serviceUnavailable
        case .noSpace: HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage")
        case .internalError: .internalServerError
        }
    }

    /// A short title for people, the same for each occurrence.
    var title: String {
        switch self {
        case .missingKey: "A key is needed"
        case .malformedKey: "Not a key"
        case .unknownKey: "Unknown key"
        case .expiredKey: "The key has expired"
        case .revokedKey: "The key was revoked"
        case .sessionEnded: "Signed out"
        case .signInOver: "This sign-in is over"
        case .signInRefused: "Not signed in"
        case .noRole: "No role here"
        case .scopeMissing: "The key may not do this"
        case .tenantKey: "Only for the operator's keys"
        case .foreignOrigin: "Sent by another site"
        case .notPermitted: "Not for the gateway to do"
        case .tooManyRequests: "Too many requests"
        case .backlogFull: "Too many jobs wait"
        case .storedFull: "Too many bytes wait"
        case .uploadQuota: "Too many bytes today"
        case .tooManyStreams: "Too many open streams"
        case .tooManyConnections: "Too many requests at a time"
        case .tooManyUploads: "Too many uploads at a time"
        case .tooManyTrials: "Too many messages are tried"
        case .unknownPath: "No such path"
        case .methodNotAllowed: "Method not allowed"
        case .badParameter: "A parameter is wrong"
        case .badBody: "The body cannot be read"
        case .bodyTooLarge: "The body is too large"
        case .lengthRequired: "The length is missing"
        case .unsatisfiableRange: "No such range"
        case .notFound: "Not found"
        case .gone: "Not kept any more"
        case .invalidURL: "Not a URL for webhooks"
        case .unknownHost: "The host has no address"
        case .refusedAddress: "Nothing may be sent there"
        case .invalidEventTypes: "No such kind of event"
        case .conflict: "There with other content"
        case .idempotencyMismatch: "Idempotency key used before"
        case .tooLate: "Too late"
        case .gap: "Members are missing"
        case .batchClosed: "The batch takes no more members"
        case .preconditionFailed: "Precondition failed"
        case .countChanged: "The number of jobs has changed"
        case .tooManyEndpoints: "Too many webhooks"
        case .queueUnavailable: "The queue does not answer"
        case .queueFull: "The queue is full"
        case .providerUnavailable: "The identity provider does not answer"
        case .libraryUnavailable: "The library does not answer"
        case .noSpace: "The library is full"
        case .internalError: "Internal error"
        }
    }
}
