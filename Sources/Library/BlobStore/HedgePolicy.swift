/// The policy for a second request beside a small GET that takes unusually long.
///
/// A store answers a few requests in a hundred much later than the others, and a second request
/// is rarely late as well. Source: Dean and Barroso, "The Tail at Scale", 2013.
struct HedgePolicy: Sendable {
    /// The shortest wait before the second request.
    static let delayMin = Duration.milliseconds(300)
    /// The number of GETs from which the usual time is computed.
    static let samplesMax = 128
    /// The fewest GETs from which it can be computed.
    static let samplesMin = 20
    /// The number of GETs that earn one second request, which limits the overhead to 5 %.
    static let getsPerHedge = 20
    /// The most second requests in immediate succession.
    static let hedgesMax = 5

    private var samples: [Duration] = []
    private var next = 0
    private var tokens = 0

    /// The wait before the second request; nil while the usual time is unknown.
    var delay: Duration? {
        guard samples.count >= Self.samplesMin else { return nil }
        return max(Self.delayMin, samples.sorted()[samples.count * 95 / 100])
    }

    /// Records the time of a successful GET.
    mutating func succeeded(after time: Duration) {
        tokens = min(Self.getsPerHedge * Self.hedgesMax, tokens + 1)
        if samples.count < Self.samplesMax {
            samples.append(time)
        } else {
            samples[next] = time
            next = (next + 1) % Self.samplesMax
        }
    }

    /// Spends the tokens of a second request. Returns false if there are not enough.
    mutating func pay() -> Bool {
        guard tokens >= Self.getsPerHedge else { return false }
        tokens -= Self.getsPerHedge
        return true
    }
}
