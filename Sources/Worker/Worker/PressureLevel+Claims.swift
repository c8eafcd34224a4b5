import RenderPool

extension PressureLevel {
    /// Returns the number of jobs that may be claimed.
    ///
    /// Up to `shrinking`, a worker without jobs still claims one at a time, so that a queue whose workers are all
    /// short of memory makes slow progress and does not stop. From `pausing` on, a further job would only have to
    /// be returned.
    ///
    /// - Parameters:
    ///   - held: the number of jobs that the worker holds.
    ///   - slots: the number of jobs that it may hold.
    func claims(held: Int, slots: Int) -> Int {
        switch self {
        case .calm: max(0, slots - held)
        case .holding, .shrinking: held == 0 ? min(1, slots) : 0
        case .pausing, .requeueing: 0
        }
    }
}
