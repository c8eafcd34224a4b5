import Editing

/// The time that a job has spent in its stages, without waiting.
struct StageTimes: Sendable, Equatable {
    var fetching: Duration = .zero
    var rendering: Duration = .zero
    var publishing: Duration = .zero

    mutating func add(_ time: Duration, in stage: EditStage) {
        switch stage {
        case .fetching: fetching += time
        case .waiting: break
        case .rendering: rendering += time
        case .publishing: publishing += time
        }
    }
}
