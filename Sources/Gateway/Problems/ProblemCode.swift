import HTTPTypes

/// Why the gateway did not do what it was asked: the closed set of its own reasons.
///
/// A fault of an edit, a photo or an asset has a code of `FailureCode` instead, as in events. A code is never
/// renamed or reused.
package enum ProblemCode: String, Sendable, CaseIterable {
    // The caller.
    /// There is no key, and the route needs one.
    case missingKey
    /// The key's text is no key.
    case malformedKey
    /// No such key.
    case unknownKey
    /// The key's time is over.
    case expiredKey
    /// The key was taken back.
    case revokedKey
    /// The session of the page is over.
    case sessionEnded
    /// The sign-in with the identity provider was not begun in this browser, is over or was used.
    case signInOver
    /// The identity provider refused, or its ID token is not believed.
    case signInRefused
    /// No role of the person leads to a key that can be used.
    case noRole
    /// The key lacks the scope.
    case scopeMissing
    /// The route concerns the whole queue, and the key is a tenant's.
    case tenantKey
    /// A page of another origin sent the request.
    case foreignOrigin
    /// The gateway's own user of Redis may not do this.
    case notPermitted
    /// The key's own rate is used up.
    case tooManyRequests
    /// The tenant has as many jobs as it may have.
    case backlogFull
    /// The key's bytes of a day are used up.
    case uploadQuota
    /// Too many streams are open for this key or gateway.
    case tooManyStreams
    /// Too many messages of webhooks are tried for this key or gateway.
    case tooManyTrials

    // The request.
    /// No route has this path.
    case unknownPath
    /// The path is known, and not with this method.
    case methodNotAllowed
    /// A parameter or header is missing or wrong.
    case badParameter
    /// The body is no JSON, or is of another type.
    case badBody
    /// The body has more bytes than it may have.
    case bodyTooLarge
    /// The body's length is not said ahead of it.
    case lengthRequired
    /// No byte of the range is there.
    case unsatisfiableRange
    /// No such thing, or it is another tenant's.
    case notFound
    /// It was there, and its record is gone.
    case gone
    /// The URL of a webhook is not of the form that is allowed.
    case invalidURL
    /// The host of a webhook's URL has no address.
    case unknownHost
    /// The URL of a webhook leads to where nothing may be sent.
    case refusedAddress
    /// No kind of event has this name, or there are none or too many.
    case invalidEventTypes

    // The state that it meets.
    /// A job or batch of this name is there with other content.
    case conflict
    /// The idempotency key was used with other content.
    case idempotencyMismatch
    /// The job ended, failed or is being published: too late for this.
    case tooLate
    /// Members before these are missing.
    case gap
    /// The batch takes no more members.
    case batchClosed
    /// A precondition of the request does not hold.
    case preconditionFailed
    /// The number of jobs is not the one that was expected.
    case countChanged
    /// The tenant or the queue has as many webhooks as it may have.
    case tooManyEndpoints

    // The servers behind the gateway.
    /// Redis does not answer.
    case queueUnavailable
    /// Redis is full.
    case queueFull
    /// The identity provider does not answer, or not as it has to.
    case providerUnavailable
    /// The library does not answer.
    case libraryUnavailable
    /// The library has no room.
    case noSpace
    /// A fault of our own.
    case internalError

    /// The status that goes with it.
    var status: HTTPResponse.Status {
        switch self {
        case .missingKey, .malformedKey, .unknownKey, .expiredKey, .revokedKey, .sessionEnded:
            .unauthorized
        case .scopeMissing, .tenantKey, .foreignOrigin, .notPermitted, .signInOver, .signInRefused,
            .noRole:
            .forbidden
        case .tooManyRequests, .backlogFull, .uploadQuota, .tooManyStreams, .tooManyTrials:
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

    /// A few words for people, always the same.
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
        case .uploadQuota: "Too many bytes today"
        case .tooManyStreams: "Too many open streams"
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
