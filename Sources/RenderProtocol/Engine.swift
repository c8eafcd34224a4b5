/// What renders: the name and version that provenance and logs give.
public enum Engine {
    /// The version of minilab, as `minilab --version` prints it.
    public static let version = "0.4.0"

    /// Name and version in one.
    public static let name = "minilab/\(version)"
}
