/// The reason for which a test's resources could not be set up.
public struct TestingFailure: Error, CustomStringConvertible {
    /// The failed operation, and the value that it failed with.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}
