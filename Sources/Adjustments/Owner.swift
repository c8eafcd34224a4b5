/// The owner of a photo. A render child, a render or a private resource of one owner serves no other.
///
/// There is no empty owner and no default one, so each place that lends a child, names a render or reads a resource
/// says whose photo it is about.
public enum Owner: Sendable, Hashable {
    /// The operator, at a shell.
    case `operator`
    /// The tenant of a job.
    case tenant(JobID)
    /// The photo itself, by a name that no other photo has. For photos of tenants that are not known, such as those
    /// that a gateway shows or `minilab verify` renders again.
    case photo(String)
}
