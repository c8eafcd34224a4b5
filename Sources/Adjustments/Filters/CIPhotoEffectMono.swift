extension FilterDefinition {
    /// Black and white with low contrast. It has no parameters.
    static let photoEffectMono = FilterDefinition(
        name: "CIPhotoEffectMono",
        summary: "Turns the photo into black and white with low contrast.",
        parameters: [],
        reach: .pixel,
        fidelity: .lookAlike)
}
