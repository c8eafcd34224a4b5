public import Adjustments
public import Editors

/// The layers of a version above the original: base, adjustment data, render and previews.
///
/// They are what PhotoKit keeps for an edited asset: `render(base or original, adjustment data) == render`.
/// A version that undo, redo or publish made shows the content of another one, unchanged.
public struct Content: Sendable, Codable, Equatable {
    /// The original.
    public let source: Input
    /// The adjustment base: a copy of the render that the edit was made on; nil for the original.
    public let base: Layer?
    /// The adjustment data beside the render.
    public let adjustment: Adjustment
    /// What the edit that was there before said to the question whether it can be read; nil when there was none.
    public let opened: Opened?
    /// The adjustment data decoded, in full-size pixels; nil when only their own editor can.
    public let recipe: Recipe?
    /// SHA-256 of the edit as it was sent: the same edit sent again changes nothing.
    public let editDigest: String
    /// `asset@version` that the edit was copied from.
    public let copiedFrom: String?
    /// `asset@version` whose render and previews these are; nil when they were made for this version.
    public let reusedFrom: String?
    /// How it was rendered; nil when the render came with the import.
    public let rendering: Rendering?
    /// The render.
    public let render: Image
    /// The movie of a Live Photo, edited as the render is; nil for a photo alone.
    public let pairedVideo: Image?
    /// The previews, smallest first.
    public let previews: [Preview]
    /// A tiny JPEG of the render as a `data:` URI, to show at once; nil when there are no previews.
    public let placeholder: String?

    /// What a render was made of.
    public struct Input: Sendable, Codable, Equatable {
        /// SHA-256 of its bytes, in hex.
        public let sha256: String
        /// What its content is.
        public let format: String
        /// Its size as stored.
        public let size: PixelSize
        /// Its EXIF orientation.
        public let orientation: Int

        /// Makes an input.
        public init(sha256: String, format: String, size: PixelSize, orientation: Int) {
            self.sha256 = sha256
            self.format = format
            self.size = size
            self.orientation = orientation
        }

        /// What codecs have to know of it.
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
        /// What it is.
        public let input: Input
        /// The movie of a Live Photo that goes with it.
        public let pairedVideo: Image?

        /// Makes a layer.
        public init(name: String, version: String, input: Input, pairedVideo: Image? = nil) {
            self.name = name
            self.version = version
            self.input = input
            self.pairedVideo = pairedVideo
        }
    }

    /// Adjustment data, as recorded.
    public struct Adjustment: Sendable, Codable, Equatable {
        /// The sidecar's name in the version's folder.
        public let sidecar: String
        /// SHA-256 of the sidecar's bytes, in hex.
        public let sidecarSHA256: String
        /// Who can read them.
        public let formatIdentifier: String
        /// The version of that format.
        public let formatVersion: String
        /// SHA-256 of the data in it, in hex.
        public let sha256: String

        /// Describes adjustment data.
        ///
        /// - Parameter sidecarSHA256: of the file with its wrapping.
        public init(sidecar: String, sidecarSHA256: String, _ data: AdjustmentData) {
            self.sidecar = sidecar
            self.sidecarSHA256 = sidecarSHA256
            formatIdentifier = data.formatIdentifier
            formatVersion = data.formatVersion
            sha256 = data.digest
        }
    }

    /// The answer to `canHandle`, and what followed from it.
    public struct Opened: Sendable, Codable, Equatable {
        /// The format of the edit that was there.
        public let formatIdentifier: String
        /// The version of that format.
        public let formatVersion: String
        /// Whether it could be read.
        public let canHandle: Bool
        /// Why not.
        public let reason: String?
        /// The layer that the new edit was made on.
        public let input: EditingInput

        /// Records an answer.
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

    /// How a render was made, and what it took.
    public struct Rendering: Sendable, Codable, Equatable {
        /// What rendered it.
        public let engine: String
        /// ``RenderKey`` in hex; nil when nobody else is to have the render.
        public let key: String?
        /// When, RFC 3339, by the worker's clock.
        public let at: String
        /// How, one step per line.
        public let plan: [String]
        /// Time in milliseconds.
        public let wallMilliseconds: Double
        /// Processor time in milliseconds.
        public let cpuMilliseconds: Double
        /// Highest resident set of the render child, in bytes.
        public let peakMemoryBytes: Int
        /// The fate of the photo's gain map; nil when it has none.
        public let gainMap: GainMapOutcome?
        /// The fate of the video of a motion photo; nil when it has none.
        public let motionVideo: MotionVideoOutcome?
        /// Other things of the photo's file that are not in the render; nil for none.
        public let leftOut: [Companion]?

        /// Makes a record.
        public init(
            engine: String, key: String? = nil, at: String, plan: [String],
            wallMilliseconds: Double,
            cpuMilliseconds: Double, peakMemoryBytes: Int, gainMap: GainMapOutcome? = nil,
            motionVideo: MotionVideoOutcome? = nil, leftOut: [Companion]? = nil
        ) {
            self.engine = engine
            self.key = key
            self.at = at
            self.plan = plan
            self.wallMilliseconds = wallMilliseconds
            self.cpuMilliseconds = cpuMilliseconds
            self.peakMemoryBytes = peakMemoryBytes
            self.gainMap = gainMap
            self.motionVideo = motionVideo
            self.leftOut = leftOut
        }
    }

    /// A picture in a version's folder.
    public struct Image: Sendable, Codable, Equatable {
        /// Its path in the version's folder.
        public let name: String
        /// Its IANA media type.
        public let mediaType: String
        /// Its upright size.
        public let size: PixelSize
        /// Its length.
        public let bytes: Int
        /// SHA-256 of its bytes, in hex.
        public let sha256: String

        /// Makes a record.
        public init(name: String, mediaType: String, size: PixelSize, bytes: Int, sha256: String) {
            self.name = name
            self.mediaType = mediaType
            self.size = size
            self.bytes = bytes
            self.sha256 = sha256
        }
    }

    /// A small picture of a render.
    public struct Preview: Sendable, Codable, Equatable {
        /// The longest side that was asked for, in pixels.
        public let longestSide: Int
        /// The picture.
        public let image: Image

        /// Makes a record.
        public init(longestSide: Int, image: Image) {
            self.longestSide = longestSide
            self.image = image
        }
    }

    /// Makes a content.
    public init(
        source: Input, base: Layer?, adjustment: Adjustment, opened: Opened?, recipe: Recipe?,
        editDigest: String, copiedFrom: String? = nil, reusedFrom: String? = nil,
        rendering: Rendering?, render: Image, pairedVideo: Image? = nil,
        previews: [Preview] = [], placeholder: String? = nil
    ) {
        self.source = source
        self.base = base
        self.adjustment = adjustment
        self.opened = opened
        self.recipe = recipe
        self.editDigest = editDigest
        self.copiedFrom = copiedFrom
        self.reusedFrom = reusedFrom
        self.rendering = rendering
        self.render = render
        self.pairedVideo = pairedVideo
        self.previews = previews
        self.placeholder = placeholder
    }

    /// What the edit was made on: the base, or the original.
    public var input: Input { base?.input ?? source }
}
