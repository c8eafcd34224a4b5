/// The stage of an edit: shown to operators, and recorded in a job's history when its worker dies.
package enum EditStage: String, Sendable {
    /// The edit is decided, and the photo is being transferred to this machine.
    case fetching
    /// The photo waits for a slot, or its render for memory.
    case waiting
    /// The photo is being decoded and rendered.
    case rendering
    /// The version is being transferred to the library and published.
    case publishing
}
