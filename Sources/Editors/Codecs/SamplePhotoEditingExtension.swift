extension FilterName {
    /// Apple's sample "Sample Photo Editing Extension": five filters with their defaults.
    public static let samplePhotoEditingExtension = FilterName(
        "com.example.apple-samplecode.photofilter", ["1.0"], .keyedArchive,
        names: [
            "CISepiaTone", "CIPhotoEffectChrome", "CIPhotoEffectInstant", "CIColorInvert",
            "CIColorPosterize",
        ])
}
