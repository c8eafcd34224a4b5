/// Why the means of a test could not be set up.
public struct TestingFailure: Error, CustomStringConvertible {
    /// What failed, with which value.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}
