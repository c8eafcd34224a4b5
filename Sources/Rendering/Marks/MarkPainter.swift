import Edits
import Files
import Filters
import RenderProtocol

/// The marks of one rendition, drawn on its finished rows.
///
/// A mark is rasterised once; each row knows the copies that touch it. No second picture of the rendition is kept.
final class MarkPainter: RowMarks {
    /// A mark with its places.
    private struct Placed {
        let layer: MarkLayer
        /// The columns and rows from the top left at which copies begin, by row.
        let stamps: [Mark.Placement.Stamp]
    }

    private let marks: [Placed]
    /// Most pixels that copies of a mark have together, as a multiple of the rendition's, and what is always allowed: the copies themselves
    /// do not overlap, but their shadows do.
    private static let drawnFactor = 64
    private static let drawnMin = 4 * ResourcePicture.pixelsMax
    private let width: Int
    private let hasAlpha: Bool

    /// Rasterises the marks of a rendition.
    ///
    /// - Parameters:
    ///   - size: the size of the rendition.
    ///   - hasAlpha: whether its rows have a plane of alpha.
    ///   - texts: the coverage of the marks that are texts, in their order.
    ///   - coverage: the file of their coverage.
    ///   - path: the rendition's name in errors.
    /// - Throws: `missingResource`, `badResource`; `invalidValue` for a lattice that does not fit the rendition.
    init(
        _ marks: [Mark], in size: PixelSize, hasAlpha: Bool, resources: Resources,
        texts: [PlacedText] = [],
        coverage: OpenFile? = nil, path: String
    ) throws(Failure) {
        var placed: [Placed] = []
        var texts = texts[...]
        for (index, mark) in marks.enumerated() {
            let path = "\(path)[\(index)]"
            let raster: MarkRaster
            switch mark.content {
            case .image(let digest, let width):
                let picture: ResourcePicture
                do throws(Failure) {
                    picture = try ResourcePicture(resources.file(digest), .scaled(1))
                } catch {
                    throw error.at("\(path).image")
                }
                let scaled = mark.size(of: picture.size, width: width, in: size)
                raster = MarkRaster(
                    picture, scaledTo: scaled.size, turnedBy: mark.turnOfContent)
            case .text(let text):
                guard let drawn = texts.popFirst(), let coverage else {
                    throw Failure(
                        .internalError,
                        "\(path) came without the coverage of its text. Report this.")
                }
                raster = try MarkRaster(text, mark.stroke, drawn, in: coverage)
            }
            let shadowed = try raster.codes(
                with: mark.shadow.map { mark.cast($0, in: size) }, at: path)
            var placement = try mark.placement(of: raster.flat, in: size, at: path)
            guard let drawing = shadowed else { continue }
            if mark.tile != nil {
                do throws(Failure) {
                    placement = try mark.placement(
                        of: raster.flat, in: size, drawing: drawing.area, at: path)
                } catch {
                    throw Failure(
                        .invalidValue,
                        "\(path).shadow reaches into \(size) from more than \(ContractLimits.stampsMax) copies; expected is a smaller "
                            + "blur and offset, or fewer copies.")
                }
            }
            guard
                placement.stamps.count * drawing.size.pixels
                    <= max(Self.drawnMin, Self.drawnFactor * size.pixels)
            else {
                throw Failure(
                    .invalidValue,
                    "\(path).shadow reaches \(drawing.size) pixels around each of \(placement.stamps.count) copies; expected is a "
                        + "smaller blur and offset, or fewer copies.")
            }
            placed.append(
                Placed(
                    layer: MarkLayer(
                        size: drawing.size, codes: drawing.codes, opacity: mark.opacity,
                        blend: mark.blend),
                    stamps: placement.stamps.map {
                        Mark.Placement.Stamp(
                            left: $0.left + drawing.left, top: $0.top + drawing.top)
                    }))
        }
        self.marks = placed
        (width, self.hasAlpha) = (size.width, hasAlpha)
    }

    func draw(on row: PlanarRow, y: Int) {
        for mark in marks {
            for stamp in mark.stamps where stamp.top <= y && y < stamp.top + mark.layer.size.height
            {
                mark.layer.draw(
                    line: y - stamp.top, at: stamp.left, on: row, width: width, hasAlpha: hasAlpha)
            }
        }
    }
}

extension MarkPainter {
    /// Rasterises what is drawn over a rendition; nil if nothing is.
    convenience init?(
        _ planned: PlannedRendition, _ texts: [PlacedText], _ files: RenderFiles
    ) throws(Failure) {
        guard !planned.rendition.marks.isEmpty else { return nil }
        try self.init(
            planned.rendition.marks, in: planned.placement.size, hasAlpha: planned.planes == 4,
            resources: Resources(files: files.resources), texts: texts, coverage: files.coverage,
            path: planned.path + ".marks")
    }

    /// Returns the bytes that marks keep while a rendition is made, with those of making the largest, likely at most.
    static func bytes(of marks: [Mark], in size: PixelSize) -> Int {
        let each = marks.map { bytes(of: $0, in: size) }
        return each.reduce(0, +) + (each.max() ?? 0)
            + (marks.contains { $0.text == nil } ? decodedBytes : 0)
    }

    private static func bytes(of mark: Mark, in size: PixelSize) -> Int {
        var (columns, rows): (Int, Int)
        /// The pixels of a picture, which is as large as its rendition allows.
        var picture = 0
        switch mark.content {
        case .image(_, let width):
            // A picture is at most twice as high as wide, or as high as the rendition.
            let side = mark.isInPixels ? width.millionths : width.millionths * size.width
            columns = min(size.width, side / Focus.scale + 1)
            rows = min(size.height, 2 * columns)
            picture = columns * rows * (mark.turnOfContent == 0 ? 1 : 2)
        case .text(let text):
            // A character is at most an em wide, a line less than two ems high.
            let em = mark.sixtyFourths(text.size, in: size) / 64 + 1
            columns = min(size.width, em * (text.text.unicodeScalars.count + 1))
            rows = min(size.height, 2 * em * ContractLimits.textLinesMax)
            columns = min(columns, TextRequest.pixelsMax / max(1, rows) + em)
        }
        if let cast = mark.shadow.map({ mark.cast($0, in: size) }) {
            let reach = BoxBlur(radius: cast.blur).reach
            columns += 2 * reach + abs(cast.right)
            rows += 2 * reach + abs(cast.down)
        }
        return 4 * max(picture, min(columns * rows, ResourcePicture.pixelsMax))
    }

    /// A logo of four megapixels, decoded; larger ones are rare, and at most four times as large.
    private static let decodedBytes = 16 << 20
}

extension Mark {
    /// A shadow in whole pixels of a rendition; `down` is downwards.
    struct Cast {
        let right: Int, down: Int
        let blur: Double
        let color: Recipe.Background
        let opacity: Double
    }

    /// Returns a shadow in the pixels of a rendition.
    func cast(_ shadow: Shadow, in size: PixelSize) -> Cast {
        let offset = offset(of: shadow, in: size)
        return Cast(
            right: offset.right, down: -offset.up,
            blur: Double(sixtyFourths(shadow.blur, in: size)) / 64, color: shadow.color,
            opacity: shadow.opacity)
    }
}
