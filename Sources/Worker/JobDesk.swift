/// The only door to the queue for the maker of a job, while it makes it.
public struct JobDesk: Sendable {
    /// Tells readers what the result will look like, roughly.
    var placeholder: @Sendable (String) async -> Void = { _ in }

    /// Lets other workers do parts of the job.
    ///
    /// The task is what they are told, the same for all parts. False: nobody else does any.
    var split: @Sendable (_ task: String, _ numbers: [Int]) async -> Bool = { _, _ in false }

    /// Takes a part back, unless another worker does it now.
    var takePart: @Sendable (Int) async -> Part = { _ in Part(isOurs: true, ended: []) }

    /// Whose a part is.
    struct Part: Sendable {
        /// Whether nobody else does it, or will.
        let isOurs: Bool
        /// The parts that other workers have ended so far.
        let ended: [Int]
    }
}
