/// The fate of a photo's gain map: the second, small picture that makes it HDR.
public enum GainMapOutcome: CompanionOutcome, Equatable {
    /// It has the photo's geometry; its gains are exactly true, since the filters leave them alone.
    case carried
    /// Gains were computed anew from the photo and what it was in HDR, both edited.
    case recomputed
    /// It has the photo's geometry and the gains of before, which is what people expect of a curve and not exact.
    case kept
    /// It is left out, for a reason that is a clause for people: the result is not HDR.
    case dropped(reason: String)

    public static let keeping: [String: Self] = [
        "carried": .carried, "recomputed": .recomputed, "kept": .kept,
    ]

    /// The name in JSON.
    public var name: String {
        switch self {
        case .carried: "carried"
        case .recomputed: "recomputed"
        case .kept: "kept"
        case .dropped: "dropped"
        }
    }

    /// Why it was dropped.
    public var reason: String? { if case .dropped(let reason) = self { reason } else { nil } }
}

/// A thing that lies in a photo's file beside its picture, and is not in a render.
public enum Companion: String, Sendable, Codable, CaseIterable {
    /// How far away each place is.
    case depth
    /// The video of a motion photo.
    case motionVideo
    /// The other picture of a stereo pair.
    case secondEye
    /// The parts of the photo that are a person, hair, sky.
    case matte
}
