/// The interface through which other workers are asked to render parts of a movie. By default nobody else renders any.
package struct PartSharing: Sendable {
    /// Offers parts to other workers.
    ///
    /// The task string describes the work and is the same for all parts. Returns false if no other worker can
    /// render any part.
    package var split: @Sendable (_ task: String, _ numbers: [Int]) async -> Bool = { _, _ in false
    }

    /// Claims a part back, unless another worker is rendering it.
    package var claimPart: @Sendable (Int) async -> Part = { _ in Part(isOurs: true, ended: []) }

    /// The state of a part.
    package struct Part: Sendable {
        /// Whether this worker is the only one that renders the part.
        let isOurs: Bool
        /// The parts that other workers have finished so far.
        let ended: [Int]

        package init(isOurs: Bool, ended: [Int]) {
            self.isOurs = isOurs
            self.ended = ended
        }
    }

    package init() {}
}
