import FoundationEssentials

/// Numbers and times as parts of a sentence.
enum Phrase {
    /// Returns a time in ms since 1970 in readable form.
    static func time(_ milliseconds: Int) -> String {
        Date(timeIntervalSince1970: Double(milliseconds) / 1000).formatted(.iso8601)
    }

    static func at(_ milliseconds: Int?) -> String {
        milliseconds.map { " at \(time($0))" } ?? ""
    }

    /// Returns the time at which something is due: `in 5 s (1970-01-01T00:00:05Z)`, or `now`.
    static func when(_ due: Int, _ wait: Int) -> String {
        wait > 0 ? "in \(span(wait)) (\(time(due)))" : "now"
    }

    /// Returns a duration in readable form: `40 s`, `12 min`, `3 h`, `2 d`.
    static func span(_ milliseconds: Int) -> String {
        let seconds = seconds(milliseconds)
        return switch seconds {
        case ..<120: "\(seconds) s"
        case ..<7200: "\(seconds / 60) min"
        case ..<172_800: "\(seconds / 3600) h"
        default: "\(seconds / 86400) d"
        }
    }

    /// Returns a duration in seconds, rounded up.
    static func seconds(_ milliseconds: Int) -> Int {
        let (whole, rest) = max(0, milliseconds).quotientAndRemainder(dividingBy: 1000)
        return whole + (rest == 0 ? 0 : 1)
    }

    static func ahead(_ jobs: Int) -> String { jobs == 0 ? "it is next" : "\(jobs) ahead" }

    static func aheadInBatch(_ jobs: Int) -> String {
        jobs == 0
            ? "; it is the next of its batch" : "; \(jobs) of its batch ahead in the stream"
    }

    static func about(_ span: Int?) -> String { span.map { "; about \(Self.span($0))" } ?? "" }

    static func plural(_ count: Int, _ one: String, _ more: String? = nil) -> String {
        "\(count) \(count == 1 ? one : more ?? one + "s")"
    }

    /// Returns a sentence with its full stop.
    static func ended(_ sentence: String) -> String {
        sentence.hasSuffix(".") ? sentence : sentence + "."
    }
}
