public import Tracing

/// Whether this process, or the present task, has a tracer.
public var isTracing: Bool { !(InstrumentationSystem.instrument is NoOpInstrument) }

/// Works within a span, which ends with the work; what the work throws is noted in it.
///
/// Like `withSpan`, but an error keeps its type. Without a tracer the work runs and nothing is noted.
///
/// - Parameters:
///   - name: of few kinds, such as `render`; what differs from job to job is an attribute.
///   - context: where the span belongs; by default the present one.
///   - work: is given the span, for what it learns meanwhile.
public func inSpan<Result, Failure: Error>(
    _ name: String, _ kind: SpanKind = .internal, in context: ServiceContext? = nil,
    with attributes: @autoclosure () -> SpanAttributes = [:],
    _ work: (any Span) async throws(Failure) -> Result
) async throws(Failure) -> Result {
    guard isTracing || context != nil else {
        return try await work(NoOpTracer.NoOpSpan(context: .current ?? .topLevel))
    }
    let span = startSpan(name, context: context ?? .current ?? .topLevel, ofKind: kind)
    defer { span.end() }
    if span.isRecording { span.attributes.merge(attributes()) }
    var inner = span.context
    inner.span = span
    // Task locals have no typed errors.
    let result: Swift.Result<Result, Failure> = await ServiceContext.$current.withValue(
        inner
    ) {
        do throws(Failure) {
            return .success(try await work(span))
        } catch {
            span.recordError(error)
            return .failure(error)
        }
    }
    return try result.get()
}

/// Notes a span that has passed, such as a wait that is over.
///
/// - Parameters:
///   - context: where the span belongs; by default the present one.
///   - time: how long it took, up to now.
public func noteSpan(
    _ name: String, in context: ServiceContext? = nil, lasting time: Duration,
    with attributes: @autoclosure () -> SpanAttributes = [:]
) {
    guard isTracing else { return }
    let now = DefaultTracerClock.now
    let nanoseconds = UInt64(clamping: Int64(max(0, time / .nanoseconds(1)).rounded()))
    let begin = DefaultTracerClock.Timestamp(
        nanosecondsSinceEpoch: now.nanosecondsSinceEpoch
            - min(now.nanosecondsSinceEpoch, nanoseconds))
    let span = startSpan(name, context: context ?? .current ?? .topLevel, at: begin)
    if span.isRecording { span.attributes.merge(attributes()) }
    span.end(at: now)
}
