import Edits

extension FilterName {
    /// The photo editing extension of the book "iOS App Development Essentials" (ebookfrenzy.com).
    ///
    /// It calls `setDefaults()` and then sets intensity 0.8 for sepia and edges, radius 25 and angle 0 for motion blur; all other
    /// filters have their defaults. Early printings archive without secure coding, which produces the same bytes.
    public static let ebookFrenzyPhotoExtension = FilterName(
        "com.ebookfrenzy.photoext", ["1.0"], .keyedArchive,
        implied: [
            "CISepiaTone": ["inputIntensity": 0.8],
            "CIEdges": ["inputIntensity": 0.8],
            "CIMotionBlur": ["inputRadius": 25, "inputAngle": 0],
        ])
}
