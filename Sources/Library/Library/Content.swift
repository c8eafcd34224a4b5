public import Editors
public import Edits

/// The layers of a version above the original: base, adjustment data, render and previews.
///
/// They are the layers that PhotoKit keeps for an edited asset:
/// `render(base or original, adjustment data) == render`.
/// A version that undo, redo or publish made shows the content of another version, unchanged.
public struct Content: Sendable, Codable, Equatable {
    /// The original.
    public let source: Input
    /// The adjustment base: a copy of the render that the edit was made on; nil for the original.
    public let base: Layer?
    /// The adjustment data beside the render.
    public let adjustment: Adjustment
    /// The answer of the previous edit's editor to `canHandle`; nil if there was no previous edit.
    public let opened: Opened?
    /// The decoded adjustment data, in full-size pixels; nil if only their own editor can decode them.
    public let recipe: Recipe?
    /// The SHA-256 of the edit as it was sent. The same edit sent again changes nothing.
    public let editDigest: String
    /// The recipe with relative values and steps that exist in requests only, as they were sent: what a copy of the edit applies to
    /// another photo. nil if each photo has the pixels of ``recipe``.
    public let sent: Recipe?
    /// The source of a copied edit, as `asset@version`.
    public let copiedFrom: String?
    /// The source of a reused render and its previews, as `asset@version`; nil if they were made for this version.
    public let reusedFrom: String?
    /// The record of the rendering; nil for an imported render.
    public let rendering: Rendering?
    public let render: Image
    /// The movie of a Live Photo, with the same edit as the render; nil for a photo alone.
    public let pairedVideo: Image?
    /// The previews, smallest first.
    public let previews: [Preview]
    /// A tiny JPEG of the render as a `data:` URI, for immediate display; nil if there are no previews.
    public let placeholder: String?

    /// The input of a render.
    public struct Input: Sendable, Codable, Equatable {
        /// The SHA-256 of its bytes, in hex.
        public let sha256: String
        public let format: String
        /// Its size as stored.
        public let size: PixelSize
        /// Its EXIF orientation.
        public let orientation: Int

        public init(sha256: String, format: String, size: PixelSize, orientation: Int) {
            (self.sha256, self.format) = (sha256, format)
            (self.size, self.orientation) = (size, orientation)
        }

        /// The properties that codecs need.
        public var photo: EditedPhoto {
            EditedPhoto(
                storedSize: size, orientation: Orientation(rawValue: orientation) ?? .upright)
        }
    }

    /// A base layer.
    public struct Layer: Sendable, Codable, Equatable {
        /// Its path in the version's folder.
        public let name: String
        /// The version whose render it is.
        public let version: String
        /// The file as the input of a render.
        public let input: Input
        /// The movie of a Live Photo that belongs to the layer.
        public let pairedVideo: Image?

        public init(name: String, version: String, input: Input, pairedVideo: Image? = nil) {
            (self.name, self.version) = (name, version)
            (self.input, self.pairedVideo) = (input, pairedVideo)
        }
    }

    /// The record of adjustment data.
    public struct Adjustment: Sendable, Codable, Equatable {
        /// The sidecar's name in the version's folder.
        public let sidecar: String
        /// The SHA-256 of the sidecar's bytes, in hex.
        public let sidecarSHA256: String
        /// The format of the data, which tells the editors that can read them.
        public let formatIdentifier: String
        public let formatVersion: String
        /// The SHA-256 of the data in the sidecar, in hex.
        public let sha256: String

        /// Creates a record of adjustment data.
        ///
        /// - Parameter sidecarSHA256: the digest of the whole file, including its envelope.
        public init(sidecar: String, sidecarSHA256: String, _ data: AdjustmentData) {
            self.sidecar = sidecar
            self.sidecarSHA256 = sidecarSHA256
            formatIdentifier = data.formatIdentifier
            formatVersion = data.formatVersion
            sha256 = data.digest
        }
    }

    /// The answer to `canHandle`, and its consequence.
    public struct Opened: Sendable, Codable, Equatable {
        /// The format of the previous edit.
        public let formatIdentifier: String
        public let formatVersion: String
        /// Whether the previous edit could be read.
        public let canHandle: Bool
        /// The reason if it could not be read.
        public let reason: String?
        /// The layer on which the new edit was made.
        public let input: EditingInput

        public init(
            _ adjustment: Adjustment, _ answer: EditorAnswer, input: EditingInput
        ) {
            formatIdentifier = adjustment.formatIdentifier
            formatVersion = adjustment.formatVersion
            self.input = input
            switch answer {
            case .canHandle: (canHandle, reason) = (true, nil)
            case .cannotHandle(let sentence): (canHandle, reason) = (false, sentence)
            case .undecodable(let failure): (canHandle, reason) = (false, failure.description)
            }
        }
    }

    /// The record of a rendering: its plan and the resources that it used.
    public struct Rendering: Sendable, Codable, Equatable {
        /// As in ``RenderOrigin``.
        public let engine: String
        public let render: Int?
        public let libraries: [String: String]?
        /// ``RenderKey`` in hex; nil if the render must not be reused.
        public let key: String?
        /// The content identifier that the halves of a Live Photo got; nil if they got none, and from releases that made it of the key.
        public let contentIdentifier: String?
        /// The time of the rendering, RFC 3339, by the worker's clock.
        public let at: String
        /// The plan, one step a line.
        public let plan: [String]
        /// The elapsed time in milliseconds.
        public private(set) var wallMilliseconds: Double
        /// The processor time in milliseconds.
        public private(set) var cpuMilliseconds: Double
        /// The highest resident set of the render child, in bytes.
        public private(set) var peakMemoryBytes: Int
        /// The fate of the photo's gain map; nil when it has none.
        public let gainMap: GainMapOutcome?
        /// The fate of the video of a motion photo; nil when it has none.
        public let motionVideo: MotionVideoOutcome?
        /// Other parts of the photo's file that are missing in the render, by the names that release 0.5 knows; nil for none.
        private let leftOut: [String]?
        /// Those that release 0.5 does not know.
        private let alsoLeftOut: [String]?

        /// Creates a record.
        public init(
            by origin: RenderOrigin, key: String? = nil, contentIdentifier: String? = nil,
            at: String, plan: [String],
            wallMilliseconds: Double, cpuMilliseconds: Double, peakMemoryBytes: Int,
            _ companions: Companions = Companions()
        ) {
            (engine, render, libraries) = (origin.engine, origin.render, origin.libraries)
            self.key = key
            self.contentIdentifier = contentIdentifier
            self.at = at
            self.plan = plan
            self.wallMilliseconds = wallMilliseconds
            self.cpuMilliseconds = cpuMilliseconds
            self.peakMemoryBytes = peakMemoryBytes
            gainMap = companions.gainMap
            motionVideo = companions.motionVideo
            (leftOut, alsoLeftOut) = Companion.split(companions.leftOut)
        }

        public var origin: RenderOrigin {
            RenderOrigin(engine: engine, render: render, libraries: libraries)
        }

        public var companions: Companions {
            Companions(
                gainMap: gainMap, motionVideo: motionVideo,
                leftOut: Companion.joined(leftOut, alsoLeftOut))
        }

        /// Adds the resources that the render of a second file used.
        package mutating func add(
            wallMilliseconds: Double, cpuMilliseconds: Double, peakMemoryBytes: Int
        ) {
            self.wallMilliseconds += wallMilliseconds
            self.cpuMilliseconds += cpuMilliseconds
            self.peakMemoryBytes = max(self.peakMemoryBytes, peakMemoryBytes)
        }
    }

    /// A picture or movie in a version's folder.
    @dynamicMemberLookup
    public struct Image: Sendable, Codable, Equatable {
        /// Its path in the version's folder.
        public let name: String
        public let file: MadeFile

        private enum CodingKeys: String, CodingKey { case name, mediaType, size, bytes, sha256 }

        public init(name: String, _ file: MadeFile) {
            self.name = name
            self.file = file
        }

        public init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            name = try fields.decode(String.self, forKey: .name)
            file = MadeFile(
                mediaType: try fields.decode(String.self, forKey: .mediaType),
                size: try fields.decode(PixelSize.self, forKey: .size),
                bytes: try fields.decode(Int.self, forKey: .bytes),
                sha256: try fields.decode(String.self, forKey: .sha256))
        }

        public func encode(to encoder: any Encoder) throws {
            var fields = encoder.container(keyedBy: CodingKeys.self)
            try fields.encode(name, forKey: .name)
            try fields.encode(file.mediaType, forKey: .mediaType)
            try fields.encode(file.size, forKey: .size)
            try fields.encode(file.bytes, forKey: .bytes)
            try fields.encode(file.sha256, forKey: .sha256)
        }

        public subscript<Value>(dynamicMember field: KeyPath<MadeFile, Value>) -> Value {
            file[keyPath: field]
        }
    }

    /// A small picture of a render.
    public struct Preview: Sendable, Codable, Equatable {
        /// The requested longest side, in pixels.
        public let longestSide: Int
        /// The picture.
        public let image: Image

        public init(longestSide: Int, image: Image) {
            (self.longestSide, self.image) = (longestSide, image)
        }
    }

    public init(
        source: Input, base: Layer?, adjustment: Adjustment, opened: Opened?, recipe: Recipe?,
        editDigest: String, sent: Recipe? = nil, copiedFrom: String? = nil,
        reusedFrom: String? = nil, rendering: Rendering?, render: Image, pairedVideo: Image? = nil,
        previews: [Preview] = [], placeholder: String? = nil
    ) {
        (self.source, self.base, self.adjustment) = (source, base, adjustment)
        (self.opened, self.recipe, self.editDigest) = (opened, recipe, editDigest)
        (self.sent, self.copiedFrom, self.reusedFrom) = (sent, copiedFrom, reusedFrom)
        (self.rendering, self.render, self.pairedVideo) = (rendering, render, pairedVideo)
        (self.previews, self.placeholder) = (previews, placeholder)
    }

    /// The input of the edit: the base, or the original.
    public var input: Input { base?.input ?? source }
}

/// The outcome of a publication.
public enum Publication: Sendable, Equatable {
    /// The version is now current, or is now the draft.
    case published
    /// The version was already published: by this worker before a crash, or by the worker that took the job over.
    case alreadyPublished
    /// The job has already made this version, and Redis has lost the record. The new version was removed. No event
    /// may name it, so run the job again: it will find the published one.
    case publishedBefore(String)
    /// Another version became current since this one was started, or there is a draft that arrived later. Run the
    /// job again: it will plan with the new state.
    case conflict(current: VersionName?)
    /// The staged version is missing. Run the job again.
    case lost
}

/// The current version and the draft of an asset.
public struct AssetState: Sendable, Equatable {
    /// The current version; nil if the asset was never edited.
    public let current: Provenance?
    /// The draft: a version that is prepared and not published.
    public let draft: Provenance?
    /// The arrival of the latest edit that found the current version unchanged by it, in µs since 1970.
    let confirmed: Int?

    public init(current: Provenance? = nil, draft: Provenance? = nil, confirmed: Int? = nil) {
        (self.current, self.draft, self.confirmed) = (current, draft, confirmed)
    }

    /// The draft and the current version, as far as they exist.
    package var versions: [Provenance] { [draft, current].compactMap(\.self) }

    /// The arrival of the edit that readers see, in µs since 1970: of the edit that made the current version, or of
    /// a later one that had nothing to change. 0 if no queue sent it.
    public var arrival: Int { max(current?.author.arrival ?? 0, confirmed ?? 0) }
}
