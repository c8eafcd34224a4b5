package import RenderProtocol

/// How photos and results reach a process.
package enum FileReach: Sendable, Equatable {
    /// Started by hand: any file that its user may open.
    case anything
    /// Some by path, besides the system's libraries and fonts.
    case paths(ReachableFiles)
    /// As descriptors alone: no path but the system's.
    case descriptors

    /// Whether a process like this is started by a worker, and to end with it.
    var isOfWorker: Bool { self != .anything }

    /// The system calls that it needs, as long as it serves requests itself.
    var needs: AllowedCalls.Needs {
        switch self {
        case .anything, .paths: [.namedFiles, .ownLimits]
        case .descriptors: []
        }
    }
}
