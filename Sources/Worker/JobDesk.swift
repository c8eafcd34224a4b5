/// The interface to the queue for a handler while it makes a job's result.
public struct JobDesk: Sendable {
    /// Publishes a rough preview of the result to readers of events.
    var placeholder: @Sendable (String) async -> Void = { _ in }

    /// Offers parts of the job to other workers.
    ///
    /// The task string describes the work and is the same for all parts. Returns false if no other worker can
    /// render any part.
    var split: @Sendable (_ task: String, _ numbers: [Int]) async -> Bool = { _, _ in false }

    /// Takes a part back, unless another worker is rendering it.
    var takePart: @Sendable (Int) async -> Part = { _ in Part(isOurs: true, ended: []) }

    /// The state of a part.
    struct Part: Sendable {
        /// Whether this worker is the only one that renders the part.
        let isOurs: Bool
        /// The parts that other workers have finished so far.
        let ended: [Int]
    }
}
