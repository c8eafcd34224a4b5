extension FilterName {
    /// Apple's sample "Example app using Photos framework": UTF-8, each filter with its defaults, so sepia has intensity 1.
    public static let appleSamplePhotosApp = FilterName(
        "com.example.apple-samplecode.SamplePhotosApp", ["1.0"], .utf8)

    /// The same sample as printed in an article, with an identifier without `apple-`.
    public static let samplePhotosApp = FilterName(
        "com.example.samplecode.SamplePhotosApp", ["1.0"], .utf8)
}
