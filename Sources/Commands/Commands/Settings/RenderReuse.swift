/// The renders that a job may reuse if photo and edit are the same. Only ``tenants`` permits those of other tenants.
enum RenderReuse: String, CaseIterable, Sendable {
    /// None.
    case never = "false"
    /// Renders that cost nothing to find: those of the whole library in a folder, of the same asset in a bucket.
    case free = "true"
    /// Renders of the whole library. In a bucket, finding them costs requests.
    case library
    /// The same, and of all tenants. A tenant that reuses a render learns that another tenant has the photo.
    case tenants
}
