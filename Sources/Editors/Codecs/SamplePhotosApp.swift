extension FilterName {
    /// Apple's sample "Example app using Photos framework": UTF-8, each filter with its defaults, so sepia is 1.
    public static let appleSamplePhotosApp = FilterName(
        "com.example.apple-samplecode.SamplePhotosApp", ["1.0"], .utf8)

    /// The same sample as an article prints it, whose identifier lacks `apple-`.
    public static let samplePhotosApp = FilterName(
        "com.example.samplecode.SamplePhotosApp", ["1.0"], .utf8)
}
