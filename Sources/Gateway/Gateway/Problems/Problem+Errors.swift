import AccessKeys
import Edits
import HTTPTypes
import JobQueue
import NIOHTTP1
import Operations
import Webhooks

extension Problem {
    /// Seconds after which a client should retry if Redis or the library did not answer.
    static let retrySeconds = 2

    /// Creates the problem for an error of any part. It contains only text that the caller may see.
    init(_ error: any Error) {
        self =
            switch error {
            case let problem as Problem: problem
            case let failure as Failure: Problem(failure)
            case let error as QueueError: Problem(error)
            case let error as KeyError: Problem(error)
            case let error as WebhookError: Problem(error)
            case let error as OIDCError: Problem(error)
            case let refusal as BodyRefusal: Problem(refusal)
            case is HTTPParserError:
                Problem(
                    .badBody,
                    "The body is not framed as HTTP/1.1 wants it; its connection is closed.")
            default:
                // The text may contain paths and hosts, so it goes to the log only.
                Problem(
                    .internalError,
                    "The gateway failed to answer. The fault was logged; the same call may succeed later."
                )
            }
    }

    private init(_ failure: Failure) {
        switch failure.code {
        case .missingAsset, .missingVersion, .missingDraft, .assetOutsideLibrary:
            self.init(failure, status: .notFound)
        case .storeUnavailable, .ioFailure:
            self.init(
                .libraryUnavailable,
                "The library does not answer, or is not at its place, as when its disk is not mounted. Ask again; its operator finds the reason in the log of the gateway.",
                retryAfter: Self.retrySeconds)
        case .noSpace:
            self.init(.noSpace, "The library has no space for it. Its operator must free some.")
        case .malformedJSON: self.init(failure, status: .badRequest)
        case .oversizedField: self.init(failure, status: .contentTooLarge)
        case .internalError:
            self.init(.internalError, "The gateway failed to answer. The fault was logged.")
        default: self.init(failure, status: .unprocessableContent)
        }
    }

    private init(_ error: QueueError) {
        switch error.code {
        case .redis where error.isRedisFull:
            self.init(
                .queueFull,
                "The queue admits no jobs, because Redis is full. Retry later; alerts have informed the operator.",
                retryAfter: 10)
        case .redis:
            self.init(
                .queueUnavailable, "The queue does not answer now; ask again.",
                retryAfter: Self.retrySeconds)
        case .ingressFull:
            self.init(
                .queueFull,
                "The queue accepts no jobs, because too many wait to be admitted. Retry later.",
                retryAfter: 10)
        case .shareUsed:
            self.init(
                .queueFull,
                "The queue accepts no jobs, because the jobs of all tenants take as much memory as they may. Retry later.",
                retryAfter: 10)
        case .unsafeServer, .unexpectedReply, .tokenExpired, .unreadableEvent, .badPosition,
            .otherLibrary:
            self.init(
                .internalError, "The queue answered something unexpected. The fault was logged.")
        }
    }

    private init(_ refusal: BodyRefusal) {
        switch refusal {
        case .oversized(let most):
            self.init(
                .bodyTooLarge,
                "The body has more than \(most) bytes, which is the most for this call.",
                facts: ["bytesMax": .number(Double(most))])
        case .broken:
            self.init(
                .badBody, "The body broke off: a chunk is malformed, or the connection has ended.")
        case .cutOff: self.init(.badBody, "The body ended before its Content-Length.")
        case .tooDeep(let most):
            self.init(
                .badBody,
                "The body has arrays and objects more than \(most) deep in each other.")
        }
    }

    private init(_ error: KeyError) {
        switch error.code {
        case .malformedKey: self.init(.malformedKey, error.message)
        case .unknownKey: self.init(.unknownKey, error.message)
        case .expiredKey: self.init(.expiredKey, error.message)
        case .revokedKey: self.init(.revokedKey, error.message)
        case .invalidTerms, .idTooLong:
            self.init(
                Failure(.invalidValue, error.message), status: .unprocessableContent)
        case .tooManyKeys: self.init(.conflict, error.message)
        case .keysUnavailable, .redis, .contended:
            self.init(
                .queueUnavailable, "Keys cannot be checked now; ask again.",
                retryAfter: Self.retrySeconds)
        case .laterFormat, .damagedKey:
            self.init(
                .internalError, "The record of this key cannot be read. The fault was logged.")
        }
    }
}
