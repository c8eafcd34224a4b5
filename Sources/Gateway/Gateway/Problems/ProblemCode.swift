import HTTPTypes

/// The gateway's own reasons for refusing a call or failing it; ``title`` says what each is. The set is closed.
///
/// A fault of an edit, a photo or an asset has a code of `FailureCode` instead, as in events. Codes are never renamed
/// or reused.
package enum ProblemCode: String, Sendable, CaseIterable {
    // The caller's credentials and quotas.
    case missingKey, malformedKey, unknownKey, expiredKey, revokedKey, sessionEnded, signInOver
    case signInRefused, noRole, scopeMissing, tenantKey, foreignOrigin, notPermitted
    case tooManyRequests, backlogFull, storedFull, uploadQuota, tooManyStreams
    case tooManyConnections, tooManyUploads, tooManyTrials
    // The request.
    case unknownPath, methodNotAllowed, badParameter, badBody, bodyTooLarge, lengthRequired
    case unsatisfiableRange, notFound, missingRendition, gone, invalidURL, unknownHost,
        refusedAddress
    case invalidEventTypes
    // The present state of what the call is about.
    case conflict, idempotencyMismatch, tooLate, gap, batchClosed, preconditionFailed
    case countChanged, tooManyEndpoints
    // The servers behind the gateway.
    case queueUnavailable, queueFull, providerUnavailable, libraryUnavailable, noSpace
    case internalError

    var status: HTTPResponse.Status { facts.status }

    /// A short title for people, the same for each occurrence.
    var title: String { facts.title }

    private var facts: (status: HTTPResponse.Status, title: String) {
        switch self {
        case .missingKey: (.unauthorized, "A key is needed")
        case .malformedKey: (.unauthorized, "Not a key")
        case .unknownKey: (.unauthorized, "Unknown key")
        case .expiredKey: (.unauthorized, "The key has expired")
        case .revokedKey: (.unauthorized, "The key was revoked")
        case .sessionEnded: (.unauthorized, "Signed out")
        case .signInOver: (.forbidden, "This sign-in is over")
        case .signInRefused: (.forbidden, "Not signed in")
        case .noRole: (.forbidden, "No role here")
        case .scopeMissing: (.forbidden, "The key may not do this")
        case .tenantKey: (.forbidden, "Only for the operator's keys")
        case .foreignOrigin: (.forbidden, "Sent by another site")
        case .notPermitted: (.forbidden, "Not for the gateway to do")
        case .tooManyRequests: (.tooManyRequests, "Too many requests")
        case .backlogFull: (.tooManyRequests, "Too many jobs wait")
        case .storedFull: (.tooManyRequests, "Too many bytes wait")
        case .uploadQuota: (.tooManyRequests, "Too many bytes today")
        case .tooManyStreams: (.tooManyRequests, "Too many open streams")
        case .tooManyConnections: (.tooManyRequests, "Too many requests at a time")
        case .tooManyUploads: (.tooManyRequests, "Too many uploads at a time")
        case .tooManyTrials: (.tooManyRequests, "Too many messages are tried")
        case .unknownPath: (.notFound, "No such path")
        case .methodNotAllowed: (.methodNotAllowed, "Method not allowed")
        case .badParameter: (.badRequest, "A parameter is wrong")
        case .badBody: (.badRequest, "The body cannot be read")
        case .bodyTooLarge: (.contentTooLarge, "The body is too large")
        case .lengthRequired: (.lengthRequired, "The length is missing")
        case .unsatisfiableRange: (.rangeNotSatisfiable, "No such range")
        case .notFound: (.notFound, "Not found")
        case .missingRendition: (.notFound, "The rendition has no file now")
        case .gone: (.gone, "Not kept any more")
        case .invalidURL: (.unprocessableContent, "Not a URL for webhooks")
        case .unknownHost: (.unprocessableContent, "The host has no address")
        case .refusedAddress: (.unprocessableContent, "Nothing may be sent there")
        case .invalidEventTypes: (.unprocessableContent, "No such kind of event")
        case .conflict: (.conflict, "There with other content")
        case .idempotencyMismatch: (.unprocessableContent, "Idempotency key used before")
        case .tooLate: (.conflict, "Too late")
        case .gap: (.conflict, "Members are missing")
        case .batchClosed: (.conflict, "The batch takes no more members")
        case .preconditionFailed: (.preconditionFailed, "Precondition failed")
        case .countChanged: (.conflict, "The number of jobs has changed")
        case .tooManyEndpoints: (.conflict, "Too many webhooks")
        case .queueUnavailable: (.serviceUnavailable, "The queue does not answer")
        case .queueFull: (.serviceUnavailable, "The queue is full")
        case .providerUnavailable: (.serviceUnavailable, "The identity provider does not answer")
        case .libraryUnavailable: (.serviceUnavailable, "The library does not answer")
        case .noSpace:
            (
                .init(code: 507, reasonPhrase: "Insufficient Storage"),
                "The library is full"
            )
        case .internalError: (.internalServerError, "Internal error")
        }
    }
}

/// The reason for which the body of a request is not read to its end.
package enum BodyRefusal: Error, Sendable, Equatable {
    /// 413: the body has more bytes than its route accepts.
    case oversized(bytesMax: Int)
    /// 400: the body ended before its declared length.
    case cutOff
    /// 400: the body is not what HTTP has (a malformed chunk), or its connection broke.
    case broken(String)
    /// 400: the arrays and objects are nested deeper than any contract needs.
    case tooDeep(depthMax: Int)
}
