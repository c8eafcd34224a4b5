import Editing

/// The interface to the queue for a handler while it makes a job's result.
public struct JobDesk: Sendable {
    /// Publishes a rough preview of the result to readers of events.
    var placeholder: @Sendable (String) async -> Void = { _ in }

    /// Offers parts of the job's movie to other workers.
    var parts = PartSharing()
}
