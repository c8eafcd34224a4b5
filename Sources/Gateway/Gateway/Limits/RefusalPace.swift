import AccessKeys
import HTTPTypes

/// The pace of refusals: whoever is refused again and again waits for the next one.
///
/// A refusal costs the gateway nearly what a small call costs, and no rate bounds it: it is what those get who are beyond their rate, or
/// have no key. An answer that waits keeps its connection from bringing the next request, so a caller's connections bound its refusals.
struct RefusalPace: Sendable {
    /// The refusals a second that are told at once, and those after a pause.
    static let perSecond = 100
    static let atOnce = 200
    /// The time for which any further one waits. A refused key is told to ask again after a second or more.
    static let wait: Duration = .seconds(1)

    private let limiter: RateLimiter

    init(uptime: @escaping @Sendable () -> Duration = RateLimiter.sinceStart()) {
        limiter = RateLimiter(name: "refusals", uptime: uptime)
    }

    /// Holds an answer back for as long as it waits.
    func hold(_ status: HTTPResponse.Status, to caller: @autoclosure () -> String) async {
        guard let time = delay(of: status, to: caller()) else { return }
        do { try await Task.sleep(for: time) } catch {
            // Cancelled: nobody waits for the answer.
        }
    }

    /// Returns how long an answer waits.
    ///
    /// - Parameter caller: the id of the key that was presented, or the address of a caller that presents none.
    func delay(of status: HTTPResponse.Status, to caller: @autoclosure () -> String) -> Duration? {
        guard status == .unauthorized || status == .tooManyRequests else { return nil }
        let answer = limiter.consume(for: caller(), rate: Self.perSecond, burst: Self.atOnce)
        return answer.isAllowed ? nil : Self.wait
    }
}
