/// Whose renders a job may take over, if photo and edit are the same: only those of its own tenant, but for ``tenants``.
enum RenderReuse: String, CaseIterable, Sendable {
    /// Nobody's.
    case never = "false"
    /// Those that cost nothing: of the whole library in a folder, of the same asset in a bucket.
    case free = "true"
    /// Those of the whole library, in a bucket too, where looking for them costs requests.
    case library
    /// The same, and of all tenants: whoever takes one over learns that another has the photo.
    case tenants
}
