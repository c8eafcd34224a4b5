/// The outcome for something that a photo's file contains beside its picture and that is edited with it.
///
/// In JSON: `outcome`, and `reason` if it was dropped.
public protocol CompanionOutcome: Sendable, Codable, CustomStringConvertible {
    /// All outcomes without a reason, by their names in JSON.
    static var keeping: [String: Self] { get }
    /// The outcome of leaving it out, for a reason that is a readable clause.
    static func dropped(reason: String) -> Self

    var name: String { get }
    /// The reason why it was dropped; nil if it was kept.
    var reason: String? { get }
}

private enum Key: String, CodingKey { case outcome, reason }

extension CompanionOutcome {
    /// A text for people.
    public var description: String { reason.map { "left out: \($0)" } ?? name }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        let name = try fields.decode(String.self, forKey: .outcome)
        if let outcome = Self.keeping[name] {
            self = outcome
        } else if name == "dropped" {
            self = .dropped(reason: try fields.decode(String.self, forKey: .reason))
        } else {
            throw DecodingError.dataCorruptedError(
                forKey: .outcome, in: fields, debugDescription: "no outcome \(name)")
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Key.self)
        try fields.encode(name, forKey: .outcome)
        try fields.encodeIfPresent(reason, forKey: .reason)
    }
}

/// The outcome for the video that a motion photo has behind its picture.
public enum MotionVideoOutcome: CompanionOutcome, Equatable {
    /// The bytes are unchanged, because no edit affects its frames.
    case carried
    /// Its frames are edited like the photo.
    case edited
    /// The video is dropped, for a reason that is a readable clause. The result is a plain photo.
    case dropped(reason: String)

    public static let keeping: [String: Self] = [
        "carried": .carried, "edited": .edited,
    ]

    public var name: String { Self.keeping.first { $0.value == self }?.key ?? "dropped" }
    public var reason: String? { if case .dropped(let reason) = self { reason } else { nil } }
}

/// The outcome for a photo's gain map: the second, small picture that makes it HDR.
public enum GainMapOutcome: CompanionOutcome, Equatable {
    /// The map has the photo's geometry. Its gains are exact, because the filters do not change them.
    case carried
    /// The gains were recomputed from the photo and its HDR version, both edited.
    case recomputed
    /// The map has the photo's geometry and the previous gains, which is not exact but expected for a curve.
    case kept
    /// The map is dropped, for a reason that is a readable clause. The result is not HDR.
    case dropped(reason: String)

    public static let keeping: [String: Self] = [
        "carried": .carried, "recomputed": .recomputed, "kept": .kept,
    ]

    public var name: String { Self.keeping.first { $0.value == self }?.key ?? "dropped" }
    public var reason: String? { if case .dropped(let reason) = self { reason } else { nil } }
}

/// The outcome for what a photo's file contains beside its picture.
///
/// In JSON, parts whose names release 0.5 does not know are in `alsoLeftOut`: its programs read on the same queue and library, and
/// refuse another name in `leftOut`.
public struct Companions: Sendable, Codable, Equatable {
    /// Nil if the photo has no gain map.
    public let gainMap: GainMapOutcome?
    /// Nil if it is no motion photo.
    public let motionVideo: MotionVideoOutcome?
    /// Other parts that the render omits; nil for none.
    public let leftOut: [Companion]?

    public init(
        gainMap: GainMapOutcome? = nil, motionVideo: MotionVideoOutcome? = nil,
        leftOut: [Companion]? = nil
    ) {
        self.gainMap = gainMap
        self.motionVideo = motionVideo
        self.leftOut = leftOut
    }

    private enum CodingKeys: String, CodingKey { case gainMap, motionVideo, leftOut, alsoLeftOut }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            gainMap: try fields.decodeIfPresent(GainMapOutcome.self, forKey: .gainMap),
            motionVideo: try fields.decodeIfPresent(MotionVideoOutcome.self, forKey: .motionVideo),
            leftOut: Companion.joined(
                try fields.decodeIfPresent([String].self, forKey: .leftOut),
                try fields.decodeIfPresent([String].self, forKey: .alsoLeftOut)))
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encodeIfPresent(gainMap, forKey: .gainMap)
        try fields.encodeIfPresent(motionVideo, forKey: .motionVideo)
        let (first, later) = Companion.split(leftOut)
        try fields.encodeIfPresent(first, forKey: .leftOut)
        try fields.encodeIfPresent(later, forKey: .alsoLeftOut)
    }
}

/// A part of a photo's file beside its picture that a render omits.
public enum Companion: String, Sendable, Codable, CaseIterable {
    /// The depth of each pixel.
    case depth
    case motionVideo
    /// The other picture of a stereo pair.
    case secondEye
    /// Masks of a person, hair or sky, and the path of a cut-out.
    case matte
    /// Further pictures: those of an index (MPO), of a HEIF or of a TIFF, the unedited one in XMP, and that of heat.
    case otherPictures
    /// The other frames of an animation or of a sequence of pictures.
    case frames
    /// The transparency of a movie.
    case alpha
    /// The second field of each frame of an interlaced movie.
    case fields
    /// EXIF that the format of the result has no room for, or that cannot be read.
    case exif
    /// XMP that the format of the result has no room for, or that cannot be read.
    case xmp
    /// IPTC, which only JPEG and TIFF hold.
    case iptc
    /// Texts of a PNG, which only PNG holds.
    case texts
    /// The signed statements about a file's origin (C2PA), which an edit makes untrue.
    case contentCredentials

    /// Those that release 0.5 does not know.
    private static let later: Set<Companion> = [.contentCredentials]

    /// Returns the names of those that release 0.5 knows, and of the others; nil for none.
    public static func split(_ all: [Companion]?) -> (first: [String]?, later: [String]?) {
        func names(_ isLater: Bool) -> [String]? {
            let names = (all ?? []).filter { later.contains($0) == isLater }.map(\.rawValue)
            return names.isEmpty ? nil : names
        }
        return (names(false), names(true))
    }

    /// Returns the parts by their names, without those that only a later release knows; nil for none.
    public static func joined(_ first: [String]?, _ later: [String]?) -> [Companion]? {
        let all = ((first ?? []) + (later ?? [])).compactMap(Companion.init)
        return all.isEmpty ? nil : all
    }
}
