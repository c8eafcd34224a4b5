import Glibc

/// The likely needs of a render, computed from its header and plan alone.
public struct RenderEstimate: Sendable, Codable, Equatable {
    /// The highest resident set of the render child, including the process itself.
    public var memoryBytes: Int
    /// The size of its spool file.
    public var spoolBytes: Int
    /// The processor time of all its threads.
    public var cpuSeconds: Double

    public init(memoryBytes: Int, spoolBytes: Int = 0, cpuSeconds: Double) {
        self.memoryBytes = memoryBytes
        self.spoolBytes = spoolBytes
        self.cpuSeconds = cpuSeconds
    }

    public static let nothing = RenderEstimate(memoryBytes: 0, cpuSeconds: 0)
}

extension RenderEstimate: CustomStringConvertible {
    public var description: String {
        func megabytes(_ bytes: Int) -> String { "\((bytes + 500_000) / 1_000_000) MB" }
        let spool = spoolBytes > 0 ? ", \(megabytes(spoolBytes)) of disk" : ""
        let tenths = Int((cpuSeconds * 10).rounded(.up))
        return "about \(megabytes(memoryBytes))\(spool), \(tenths / 10).\(tenths % 10) s of a core"
    }
}

extension RenderEstimate {
    /// Returns the processor time of a thread after which such a render is killed: its estimate, with room for a wrong estimate.
    ///
    /// - Parameter speed: The speed of the process that renders.
    public func cpuLimit(at speed: ProcessorSpeed) -> Duration {
        speed.scaled(max(Self.cpuLimitMin, .seconds(cpuSeconds * Self.cpuFactor)))
    }

    /// Returns the time after which such a render is killed. ``cpuLimit(at:)`` ends a busy loop; this limit ends an endless
    /// wait, and leaves room for a slow disk and for a machine with more work than processors.
    public func timeLimit(at speed: ProcessorSpeed) -> Duration {
        cpuLimit(at: speed) * Self.waitFactor
    }

    private static let cpuFactor = 20.0
    private static let cpuLimitMin: Duration = .seconds(60)
    private static let waitFactor = 5
}

/// The ratio of processor time between this machine and build, and those on which the estimates were measured.
///
/// Limits of processor time are multiples of an estimate in seconds of the reference: a release build on a core of
/// Zen 4. A slower processor or a debug build needs more time for the same photo, and no photo may fail for that reason.
public struct ProcessorSpeed: Sendable, Equatable {
    /// The processor time here for one second of the reference, 1 or more: limits never shrink.
    public let slowdown: Double

    /// The speed of the machine and build on which the estimates were measured.
    public static let reference = ProcessorSpeed(cost: referenceCost)

    /// The speed of this process, measured on first use, in less than a millisecond in a release build.
    public static let here = ProcessorSpeed(cost: measuredCost())

    /// Creates a speed by comparison with the reference.
    ///
    /// - Parameter cost: The processor time that the fixed piece of work took.
    public init(cost: Duration) {
        slowdown = min(max(1, cost / Self.referenceCost), Self.slowdownMax)
    }

    /// Converts a time of the reference to a time on this machine.
    public func scaled(_ time: Duration) -> Duration { time * slowdown }

    /// The processor time of the piece of work on the reference. Measured elsewhere: 0.19 ms in release on a Xeon of 2.3 GHz,
    /// which needs 1.45 times as long as the reference for a photo's pixels, and 2.5 ms in debug, which needs 14 times as long
    /// as release.
    package static let referenceCost: Duration = .microseconds(130)

    /// The bound of the slowdown: a wrong measurement may lengthen a limit, but not remove it.
    private static let slowdownMax = 100.0

    /// Returns the minimum of several measurements: interrupts and first touches of memory only make a measurement longer.
    private static func measuredCost() -> Duration {
        let costs = (0..<4).map { _ in
            let start = threadTime()
            let sum = piece()
            // The compiler must not see that the sum is unused.
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

    /// Computes and looks up values on a row of samples, as filters do. Without optimisation it is slower by the same factor as
    /// filters.
    private static func piece() -> Float {
        var row = [Float](repeating: 0.5, count: 4096)
        var sum: Float = 0
        for round in 0..<24 {
            let gain = 1 + Float(round) / 64
            for index in row.indices {
                let code = Int(row[index] * 255)
                let sample = row[(index &* 7 &+ code) & 4095]
                row[index] = min(max(sample * gain - 0.01, 0), 1)
            }
            sum += row[round]
        }
        return sum
    }
}
