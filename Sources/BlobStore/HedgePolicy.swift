/// When a small GET that takes unusually long is asked a second time, beside the first.
///
/// A store answers a few requests in a hundred much later than the others, and a second one seldom
/// meets the same bad luck. Source: Dean and Barroso, "The Tail at Scale", 2013.
struct HedgePolicy: Sendable {
    /// The least wait before the second request.
    static let delayMin = Duration.milliseconds(300)
    /// The GETs that the usual time is measured by.
    static let samplesMax = 128
    /// The fewest GETs that say what is usual.
    static let samplesMin = 20
    /// The GETs that pay for one second request: at most 5 % more of them.
    static let getsPerHedge = 20
    /// The most second requests that may follow each other at once.
    static let hedgesMax = 5

    private var samples: [Duration] = []
    private var next = 0
    private var tokens = 0

    /// How long to wait before the second request; nil means that nobody knows yet what is usual.
    var delay: Duration? {
        guard samples.count >= Self.samplesMin else { return nil }
        return max(Self.delayMin, samples.sorted()[samples.count * 95 / 100])
    }

    /// A GET took so long.
    mutating func succeeded(after time: Duration) {
        tokens = min(Self.getsPerHedge * Self.hedgesMax, tokens + 1)
        if samples.count < Self.samplesMax {
            samples.append(time)
        } else {
            samples[next] = time
            next = (next + 1) % Self.samplesMax
        }
    }

    /// Whether a second request is paid for.
    mutating func pay() -> Bool {
        guard tokens >= Self.getsPerHedge else { return false }
        tokens -= Self.getsPerHedge
        return true
    }
}
