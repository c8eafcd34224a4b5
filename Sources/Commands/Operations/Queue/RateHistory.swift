import FoundationEssentials
package import JobQueue
import Synchronization

/// The recent rates of a queue: a sample of its counters every ten seconds, for an hour. Prometheus has the time before.
package final class RateHistory: Sendable {
    /// The interval between two samples.
    package static let step: Duration = .seconds(10)
    /// The number of samples that are kept: those of an hour.
    package static let samplesMax = 360

    private let queue: JobQueue
    private let samples = Mutex<[[String: Int]]>([])

    package init(_ queue: JobQueue) { self.queue = queue }

    /// Takes samples until the task is cancelled; while Redis does not respond there are none.
    package func run() async {
        while !Task.isCancelled {
            do {
                let counters = try await queue.counters()
                samples.withLock { samples in
                    samples.append(counters)
                    if samples.count > Self.samplesMax { samples.removeFirst() }
                }
            } catch {
                // Rates over a gap would be wrong, so the curve starts again.
                samples.withLock { $0.removeAll() }
            }
            do { try await Task.sleep(for: Self.step) } catch { return }
        }
    }

    /// Returns the sum of the counters' rates, per second, the oldest first.
    package func rates(of counters: [String]) -> [Double] {
        let totals = samples.withLock { samples in
            samples.map { sample in counters.reduce(0) { $0 + (sample[$1] ?? 0) } }
        }
        return zip(totals, totals.dropFirst()).map { before, after in
            Double(max(0, after - before)) / (Self.step / .seconds(1))
        }
    }
}
