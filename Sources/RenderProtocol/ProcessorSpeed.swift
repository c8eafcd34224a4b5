import Glibc

/// How much more processor time this machine and this build need than those the estimates were measured on.
///
/// Limits of processor time are multiples of an estimate in seconds of the reference: a release build on a core of
/// Zen 4. A slower processor, and a debug build, need more for the same photo, and no photo may fail for that.
public struct ProcessorSpeed: Sendable, Equatable {
    /// Processor time here for one second of the reference, 1 or more: limits never shrink.
    public let slowdown: Double

    /// That of the machine and the build on which estimates were measured.
    public static let reference = ProcessorSpeed(cost: referenceCost)

    /// That of this process, measured when it is first asked for, in less than a millisecond of a release build.
    public static let here = ProcessorSpeed(cost: measuredCost())

    /// Compares with the reference.
    ///
    /// - Parameter cost: processor time that the fixed piece of work took.
    public init(cost: Duration) {
        slowdown = min(max(1, cost / Self.referenceCost), Self.slowdownMax)
    }

    /// A time of the reference, as it is here.
    public func scaled(_ time: Duration) -> Duration { time * slowdown }

    /// The piece of work on the reference. Seen: 0.19 ms in release on a Xeon of 2.3 GHz, which needs 1.45 times as
    /// long as the reference for a photo's pixels, and 2.5 ms in debug, which needs 14 times as long as release.
    package static let referenceCost: Duration = .microseconds(130)

    /// A measurement that is wrong may lengthen a limit, and not remove it.
    private static let slowdownMax = 100.0

    /// The least of some: interrupts and memory touched for the first time make one longer, nothing makes it shorter.
    private static func measuredCost() -> Duration {
        let costs = (0..<4).map { _ in
            let start = threadTime()
            let sum = piece()
            // The compiler must not see that nobody needs the sum.
            precondition(sum.isFinite)
            return threadTime() - start
        }
        return costs.min() ?? referenceCost
    }

    private static func threadTime() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// Arithmetic and look-ups on a row of samples, as filters do them; without optimisation it is slower by as much.
    private static func piece() -> Float {
        var row = [Float](repeating: 0.5, count: 4096)
        var sum: Float = 0
        for round in 0..<24 {
            let gain = 1 + Float(round) / 64
            for place in row.indices {
                let code = Int(row[place] * 255)
                let sample = row[(place &* 7 &+ code) & 4095]
                row[place] = min(max(sample * gain - 0.01, 0), 1)
            }
            sum += row[round]
        }
        return sum
    }
}
