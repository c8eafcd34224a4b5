import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import Telemetry
import Tracing

extension S3Client {
    /// The most bytes of an error answer.
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
}
