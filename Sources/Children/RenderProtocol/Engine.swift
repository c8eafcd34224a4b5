/// The name and version of the renderer, for provenance and logs.
public enum Engine {
    /// The version of minilab, as `minilab --version` prints it.
    public static let version = "0.4.0"

    /// The name and version in one text.
    public static let name = "minilab/\(version)"
}
