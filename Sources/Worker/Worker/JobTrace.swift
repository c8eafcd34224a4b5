import Edits
import JobQueue
import Telemetry
import Tracing

/// The parent span of an attempt at a job, and the attributes of its spans.
///
/// Names of attributes are OpenTelemetry's where it has some
/// (<https://opentelemetry.io/docs/specs/semconv/messaging/messaging-spans/>).
struct JobTrace: Sendable {
    private let queue: QueueName
    private let parent: Traceparent?
    /// The name of the trace that the job begins without one.
    private let newTrace: @Sendable () -> TraceID?
    /// From admission to claim; nil for a job that is carried on.
    private let queued: Duration?
    private let attributes: @Sendable () -> SpanAttributes

    init(_ claim: Claim, of queue: QueueName) {
        self.queue = queue
        parent = claim.traceparent
        newTrace = {
            // Its parts are in it as well.
            TraceID(
                of: claim.parent ?? claim.job, in: queue, generation: claim.generation,
                arrival: claim.arrival)
        }
        queued = claim.queued
        attributes = {
            var attributes = Self.attributes(claim.job, claim.asset, claim.generation, claim.fence)
            attributes["minilab.tenant"] = claim.tenant
            attributes["minilab.attempt"] = claim.attempt
            attributes["minilab.queued_ms"] = Int(claim.queued / .milliseconds(1))
            if let batch = claim.batch { attributes["minilab.batch"] = batch }
            return attributes
        }
    }

    init(_ job: CarriedJob, of queue: QueueName) {
        self.queue = queue
        parent = job.traceparent
        newTrace = {
            TraceID(of: job.job, in: queue, generation: job.generation, arrival: job.arrival)
        }
        queued = nil
        attributes = {
            var attributes = Self.attributes(job.job, job.asset, job.generation, job.fence)
            attributes["minilab.carries"] = job.carries
            return attributes
        }
    }

    /// Works on the job within its span, which comes after those of its wait and its claim.
    ///
    /// - Parameter since: when the call began that gave the job.
    func follow(since: ContinuousClock.Instant, _ work: () async -> Void) async {
        guard isTracing || parent != nil else { return await work() }
        let context = ServiceContext.following(parent, orBeginning: isTracing ? newTrace() : nil)
        if let queued {
            noteSpan("wait in queue", in: context, lasting: queued)
            noteSpan("claim", in: context, lasting: .now - since)
        }
        await inSpan("process \(queue)", .consumer, in: context, with: allAttributes) { _ in
            await work()
        }
    }

    private var allAttributes: SpanAttributes {
        var attributes = attributes()
        attributes["messaging.system"] = "redis"
        attributes["messaging.operation.type"] = "process"
        attributes["messaging.operation.name"] = "process"
        attributes["messaging.destination.name"] = queue.string
        return attributes
    }

    private static func attributes(
        _ job: String, _ asset: String, _ generation: Int, _ fence: String
    ) -> SpanAttributes {
        [
            "messaging.message.id": .string(job), "minilab.asset": .string(asset),
            "minilab.generation": .int64(Int64(generation)), "minilab.fence": .string(fence),
        ]
    }
}

extension TraceID {
    /// The name of the trace of a job whose producer gave none: the same for all its attempts, whichever worker makes
    /// them, and for no other job.
    ///
    /// - Parameter arrival: in µs since 1970: a name may be given again when it is forgotten.
    fileprivate init?(of job: String, in queue: QueueName, generation: Int, arrival: Int) {
        let digest = SHA256.hash(
            data: "minilab \(queue) \(job) \(generation) \(arrival)".utf8)
        let (high, low) = digest.withUnsafeBytes {
            (
                $0.loadUnaligned(fromByteOffset: 0, as: UInt64.self),
                $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
            )
        }
        self.init(high: high, low: low)
    }
}

extension AttemptEnd {
    func note() {
        guard let span = ServiceContext.current?.span, span.isRecording else { return }
        span.attributes["minilab.outcome"] = outcome
        guard case .failed(let code) = self else { return }
        span.attributes["error.type"] = code.rawValue
        span.setStatus(SpanStatus(code: .error, message: code.rawValue))
    }
}
