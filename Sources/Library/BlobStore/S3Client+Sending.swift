import AsyncHTTPClient
public import Edits
import NIOCore
import NIOHTTP1
import Telemetry
import Tracing

extension S3Client {
    static let refusalBytesMax = 64 << 10

    /// Sends a request, repeats it according to ``Attempts``, and reads its answer.
    ///
    /// - Parameters:
    ///   - make: Returns the request. It is called for each attempt, which may continue where the
    ///     last one ended.
    ///   - read: Reads an answer with status 2xx, including its body.
    func exchange<Value>(
        _ make: () -> S3Request,
        _ read: (HTTPClientResponse) async throws(AttemptFailure) -> Value
    ) async throws(BlobError) -> Value {
        let first = make()
        var attempts = Attempts(
            triesMax: configuration.triesMax,
            failedCondition: first.failedCondition, isConditional: first.isConditional)
        while true {
            let request = make()
            var begun: Beginning?
            let failure: AttemptFailure
            do throws(AttemptFailure) {
                let beginning = try await begin()
                begun = beginning
                defer { gate.leave() }
                let value = try await inSpan(
                    request.method.rawValue, .client,
                    with: request.attributes(at: beginning.location, failures: attempts.failures)
                ) { span throws(AttemptFailure) in
                    do throws(AttemptFailure) {
                        return try await attempt(request, beginning, read)
                    } catch {
                        error.note(in: span)
                        throw error
                    }
                }
                succeeded()
                return value
            } catch {
                failure = error
            }
            let step = next(
                &attempts, after: failure, signed: begun?.time ?? now,
                for: (begun?.location ?? location).region)
            if let begun, attempts.isSlowDownAsked {
                gate.slowDown(in: begun.generation)
            }
            switch step {
            case .fail(let code):
                throw explained(failure, as: code, request, begun?.keys, attempts.failures)
            case .move(let region): move(to: region)
            case .correctClock(let time): correctClock(to: time)
            case .renewCredentials:
                if let begun { await credentials.refused(begun.keys) }
            case .again(let delay): try await pause(delay, request)
            }
        }
    }

    /// The circumstances of an attempt.
    private struct Beginning {
        let generation: Int
        let location: S3Location
        let keys: Credentials
        /// The time that is signed. It is read after all waits, because stores refuse old
        /// signatures.
        let time: BlobTime
    }

    /// Waits for a permit, which the caller must release, and for keys.
    private func begin() async throws(AttemptFailure) -> Beginning {
        let generation: Int
        do throws(BlobError) { generation = try await gate.enter() } catch { throw .final(error) }
        do throws(BlobError) {
            let keys = try await credentials.current(at: now)
            return Beginning(generation: generation, location: location, keys: keys, time: now)
        } catch {
            gate.leave()
            throw .final(error)
        }
    }

    private func attempt<Value>(
        _ request: S3Request, _ beginning: Beginning,
        _ read: (HTTPClientResponse) async throws(AttemptFailure) -> Value
    ) async throws(AttemptFailure) -> Value {
        let location = beginning.location
        let time = beginning.time
        let signer = SigV4(credentials: beginning.keys, region: location.region)
        var request = request
        request.headers += configuration.commonHeaders
        let http = request.http(
            at: location, signed: signer, time: time, key: signingKey(for: signer, at: time))
        let response: HTTPClientResponse
        do throws(TransportFailure) {
            response = try await transport.send(http)
        } catch {
            throw error.local.map { .local($0) } ?? .transport(error)
        }
        ServiceContext.current?.span?.attributes["http.response.status_code"] = Int(
            response.status.code)
        guard (200..<300).contains(response.status.code) else {
            throw .refused(try await refusal(response, to: request))
        }
        return try await read(response)
    }

    private func refusal(
        _ response: HTTPClientResponse, to request: S3Request
    ) async throws(AttemptFailure) -> S3Refusal {
        var body: [UInt8] = []
        if request.method != .HEAD {
            do throws(TransportFailure) {
                body = try await response.bytes(atMost: Self.refusalBytesMax)
            } catch {
                // The status suffices; a body that is too long or truncated adds nothing.
                if error.kind == .cancelled { throw .transport(error) }
            }
        }
        return S3Refusal(
            status: Int(response.status.code), headers: response.headers, body: body)
    }

    private func pause(_ delay: Duration, _ request: S3Request) async throws(BlobError) {
        guard delay > .zero else { return }
        do {
            try await runtime.sleep(delay)
        } catch {
            throw BlobError(
                .cancelled, "\(label(of: request)) was cancelled while it waited for a repeat.")
        }
    }

    /// Returns the name of the request, for messages.
    func label(of request: S3Request) -> String {
        "\(request.method.rawValue) \(location.name(request.key))"
    }

    /// The largest object for which a second request is sent.
    static let hedgedBytesMax = 8 << 20

    /// Reads a small object, or a range of it, into memory.
    ///
    /// If the answer takes unusually long, a second request is sent (``HedgePolicy``). A whole
    /// object is compared with its digest, if the store knows it, and read again if it differs.
    public func bytes(
        _ key: BlobKey, _ range: Range<Int>? = nil, ifMatch tag: BlobTag? = nil, atMost limit: Int
    ) async throws(BlobError) -> BlobBytes {
        let first = try await hedged(key, range, tag, limit)
        guard range == nil, !first.isSound else { return first }
        let second = try await hedged(key, range, tag, limit)
        guard second.isSound else {
            throw BlobError(
                .corrupt,
                "\(location.name(key)) was read twice, and its bytes are not those of its SHA-256 "
                    + "\(second.blob.digest?.hex ?? ""): check memory and network, then the object."
            )
        }
        return second
    }

    private func hedged(
        _ key: BlobKey, _ range: Range<Int>?, _ tag: BlobTag?, _ limit: Int
    ) async throws(BlobError) -> BlobBytes {
        let begin = ContinuousClock.now
        let delay = limit <= Self.hedgedBytesMax ? hedgeDelay : nil
        let result = await withTaskGroup(of: Race.self) { group in
            var running = 1
            group.addTask { .ended(await self.collected(key, range, tag, limit)) }
            if let delay {
                group.addTask {
                    do { try await self.runtime.sleep(delay) } catch {
                        // The timer was cancelled because the first request has ended.
                        return .ended(nil)
                    }
                    return .late
                }
            }
            var last: Result<BlobBytes, BlobError>?
            while let event = await group.next() {
                switch event {
                case .late:
                    guard last == nil, payForHedge() else { continue }
                    running += 1
                    group.addTask { .ended(await self.collected(key, range, tag, limit)) }
                case .ended(let result?):
                    last = result
                    running -= 1
                    if running == 0 || !Self.leavesHope(result) {
                        group.cancelAll()
                        return result
                    }
                case .ended(nil): continue
                }
            }
            // The first request always ends, and returns above.
            return last ?? .failure(BlobError(.cancelled, "Reading was cancelled."))
        }
        let value = try result.get()
        hedgeSucceeded(after: ContinuousClock.now - begin)
        return value
    }

    private enum Race: Sendable {
        case late
        /// A request has ended; nil: the timer was not needed.
        case ended(Result<BlobBytes, BlobError>?)
    }

    /// Returns whether the other request may still succeed after this result.
    private static func leavesHope(_ result: Result<BlobBytes, BlobError>) -> Bool {
        guard case .failure(let error) = result else { return false }
        return error.code == .unavailable || error.code == .throttled
    }

    private func collected(
        _ key: BlobKey, _ range: Range<Int>?, _ tag: BlobTag?, _ limit: Int
    ) async -> Result<BlobBytes, BlobError> {
        struct TooLong: Error {}
        var bytes: [UInt8] = []
        do throws(BlobError) {
            let blob = try await get(key, range, ifMatch: tag) { piece in
                guard bytes.count + piece.readableBytes <= limit else { throw TooLong() }
                bytes.append(contentsOf: piece.readableBytesView)
            }
            return .success(BlobBytes(blob: blob, bytes: bytes))
        } catch {
            guard error.cause is TooLong else { return .failure(error) }
            return .failure(
                BlobError(
                    .invalid,
                    "\(location.name(key)) has more than the \(limit) bytes that are expected of it."
                ))
        }
    }
}
