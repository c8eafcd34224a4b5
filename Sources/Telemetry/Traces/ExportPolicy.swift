/// The consequence of a collector's answer to a request.
///
/// Source: <https://opentelemetry.io/docs/specs/otlp/#otlphttp-response>.
public enum ExportPolicy {
    /// Most times that one request is sent.
    public static let triesMax = 5
    /// The wait after the first try; each one after that is twice as long.
    public static let delayMin: Duration = .seconds(1)
    /// The longest wait, also of one that the collector asks for.
    public static let delayMax: Duration = .seconds(30)

    /// How a try ended.
    public enum Answer: Sendable, Equatable {
        /// With a status, and the seconds of `Retry-After`, if it says some.
        case status(Int, retryAfter: Int? = nil)
        /// No answer: no connection, a broken one, or no answer in time.
        case none
    }

    /// The next step for the request.
    public enum Step: Sendable, Equatable {
        /// The collector accepted the spans.
        case done
        /// The request is sent again after this delay.
        case again(Duration)
        /// The spans are dropped: the collector will never accept them, or the attempts are used up.
        case drop
    }

    /// Returns the step that follows the answer to an attempt.
    ///
    /// - Parameters:
    ///   - number: The number of the attempt, from 1.
    ///   - random: 0 to 1; the wait is between half and all of its length, so that workers do not return together.
    public static func step(after answer: Answer, try number: Int, random: Double) -> Step {
        let asked: Int?
        switch answer {
        case .status(200..<300, _): return .done
        case .status(429, let seconds), .status(502, let seconds), .status(503, let seconds),
            .status(504, let seconds):
            asked = seconds
        case .status: return .drop
        case .none: asked = nil
        }
        guard number < triesMax else { return .drop }
        let usual = delayMin * (1 << (number - 1)) * (0.5 + random / 2)
        let delay = max(asked.map { .seconds(max(0, $0)) } ?? .zero, usual)
        return .again(min(delay, delayMax))
    }
}
