/// A picture or a text that is drawn over a rendition by a rule of place and size.
///
/// Lengths are fractions of the rendition's shorter side, so that a mark looks alike on portrait, landscape and panorama; the width
/// of a picture is one of the rendition's width. With the unit `px` they are pixels.
public struct Mark: Sendable, Equatable {
    public var content: Content
    /// Where it lies: at an edge, in a corner or in the middle, or in between.
    public var at: Focus
    /// The distance from the edges that it lies at.
    public var margin: Length
    /// Whether lengths are pixels.
    public var isInPixels: Bool
    /// 0 is invisible.
    public var opacity: Double
    /// Degrees counter-clockwise.
    public var turn: Double
    /// The lattice over which it is repeated; nil for one mark.
    public var tile: Tile?
    public var blend: Blend
    public var shadow: Shadow?
    /// A line around the letters of a text.
    public var stroke: Stroke?

    public enum Content: Sendable, Equatable {
        /// A picture by its digest (`"sha256:…"`), and its width before it is turned.
        case image(String, width: Length)
        case text(Text)
    }

    /// A length in whole millionths, of a side or of a pixel: decimal fractions stay exact.
    public struct Length: Sendable, Equatable {
        public let millionths: Int

        public static let zero = Length(millionths: 0)

        public init(millionths: Int) { self.millionths = millionths }

        /// Returns the length for a side, or in pixels for a side of 1, in whole pixels, rounded half up.
        func pixels(of side: Int) -> Int {
            let scale = Focus.scale
            return millionths >= 0
                ? roundedQuotient(millionths * side, scale)
                // Half up is towards zero for negative ones.
                : -((2 * -millionths * side + scale - 1) / (2 * scale))
        }

        /// Returns the length for a side in 1/64 pixel, rounded half up.
        func sixtyFourths(of side: Int) -> Int {
            roundedQuotient(max(0, millionths) * side * 64, Focus.scale)
        }
    }

    /// A lattice of copies.
    public struct Tile: Sendable, Equatable {
        /// The distance of copies from left to right and from row to row; at least the mark's size.
        public var stepX: Length, stepY: Length
        /// Degrees counter-clockwise by which lattice and marks are turned together.
        public var turn: Double
        /// Whether every other row is moved by half a step.
        public var isStaggered: Bool

        public init(
            stepX: Length, stepY: Length, turn: Double = 0, isStaggered: Bool = false
        ) {
            (self.stepX, self.stepY) = (stepX, stepY)
            self.turn = turn
            self.isStaggered = isStaggered
        }
    }

    /// How a mark is mixed with what is below it, in linear light: the blend modes that are filters, by their names without prefix.
    public enum Blend: String, Sendable, CaseIterable {
        case sourceOver, colorBurn, colorDodge, darken, difference, exclusion, hardLight, lighten,
            multiply, overlay, screen, softLight

        /// The filter of this blend mode.
        public var filterName: String {
            self == .sourceOver
                ? "CISourceOverCompositing"
                : "CI" + rawValue.prefix(1).uppercased() + rawValue.dropFirst() + "BlendMode"
        }
    }

    /// A blurred copy below the mark, in one colour.
    public struct Shadow: Sendable, Equatable {
        /// How far it is moved to the right and up; negative ones are to the left and down.
        public var right: Length, up: Length
        /// The radius of the blur: two of its standard deviations.
        public var blur: Length
        public var color: Recipe.Background
        public var opacity: Double

        public init(
            right: Length, up: Length, blur: Length, color: Recipe.Background = .black,
            opacity: Double = 0.5
        ) {
            (self.right, self.up, self.blur) = (right, up, blur)
            self.color = color
            self.opacity = opacity
        }
    }

    public struct Stroke: Sendable, Equatable {
        /// How far it reaches beyond the letters.
        public var width: Length
        public var color: Recipe.Background

        public init(width: Length, color: Recipe.Background = .black) {
            self.width = width
            self.color = color
        }
    }

    /// Lines of text.
    public struct Text: Sendable, Equatable {
        /// The text, with placeholders.
        public var text: String
        /// The fonts by digest. A grapheme cluster takes the first one that has all its characters.
        public var fonts: [String]
        /// The face of a collection, and values of axes by tag: of the first font. The others have their first face and defaults.
        public var index: Int
        public var axes: [String: Double]
        /// The size of an em.
        public var size: Length
        /// Lines that are wider are broken; nil: only at line feeds.
        public var maxWidth: Length?
        public var color: Recipe.Background
        /// The language of the text, BCP 47: it chooses forms of letters and places of line breaks.
        public var language: String?
        public var missing: Missing
        public var overflow: Overflow

        /// The treatment of a character that no font has.
        public enum Missing: String, Sendable, CaseIterable {
            /// The job fails.
            case fail
            /// It is left out, for names of uncertain origin.
            case skip
        }

        /// The treatment of more than ten lines.
        public enum Overflow: String, Sendable, CaseIterable {
            /// The last line ends with an ellipsis.
            case cut
            /// The job fails.
            case fail
        }

        public init(
            _ text: String, fonts: [String], size: Length, index: Int = 0,
            axes: [String: Double] = [:], maxWidth: Length? = nil,
            color: Recipe.Background = .white, language: String? = nil, missing: Missing = .fail,
            overflow: Overflow = .cut
        ) {
            self.text = text
            self.fonts = fonts
            self.size = size
            self.index = index
            self.axes = axes
            self.maxWidth = maxWidth
            self.color = color
            self.language = language
            self.missing = missing
            self.overflow = overflow
        }
    }

    public init(
        _ content: Content, at: Focus = .center, margin: Length = .zero, isInPixels: Bool = false,
        opacity: Double = 1, turn: Double = 0, tile: Tile? = nil, blend: Blend = .sourceOver,
        shadow: Shadow? = nil, stroke: Stroke? = nil
    ) {
        self.content = content
        self.at = at
        self.margin = margin
        self.isInPixels = isInPixels
        self.opacity = opacity
        self.turn = turn
        self.tile = tile
        self.blend = blend
        self.shadow = shadow
        self.stroke = stroke
    }

    /// The text, if it is one.
    public var text: Text? {
        if case .text(let text) = content { text } else { nil }
    }

    /// The digests of the pictures that the renderer needs; fonts never reach it.
    public var pictureDigests: [String] {
        if case .image(let digest, _) = content { [digest] } else { [] }
    }

    /// The digests of all files that it names.
    public var resourceDigests: [String] { pictureDigests + (text?.fonts ?? []) }

    /// Degrees counter-clockwise by which its content is turned in the rendition.
    public var turnOfContent: Double { turn + (tile?.turn ?? 0) }
}

extension Recipe.Background {
    public static let black = Recipe.Background(red: 0, green: 0, blue: 0)
}
