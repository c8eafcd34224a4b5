import Edits
import Codecs
import Filters
import RenderProtocol

/// The plan of a recipe for the stored frames of a movie.
///
/// Filters see upright positions, but frames stay in their stored orientation, because the container turns them. So the plan turns
/// a frame upright, filters it and turns it back. The planner folds turns and other geometry into one, and drops the turns if no
/// step between them depends on the position.
struct FramePlan {
    /// The ways to edit a frame.
    enum Method {
        /// A part of the planes, code by code, with the centre of a vignette.
        case planes(
            area: PixelArea, filters: [any PixelFilter], centre: (x: Double, y: Double))
        case frames([Pass])
    }

    let method: Method
    /// The size of the stored result, in whole chroma samples.
    let size: PixelSize

    /// - Parameters:
    ///   - recipe: in pixels of the upright frame, without automatic filters.
    ///   - upright: the turn with which the container shows frames.
    ///   - staysUpright: whether frames are written upright, and not turned back to their stored orientation.
    /// - Throws: errors of ``Planner``, and `invalidValue` for a result smaller than a chroma sample, and for filters that cannot
    ///   handle light above white in an HDR movie.
    init(
        _ recipe: Recipe, _ layout: FrameLayout, _ colour: FrameColour, upright: Orientation,
        staysUpright: Bool = false, limits: RenderLimits, _ resources: Resources
    ) throws(Failure) {
        if colour.transfer.isHDR { try Self.checkHDR(recipe) }
        let stored = PixelSize(width: layout.width, height: layout.height)
        let (steps, size) = try Planner.steps(
            of: recipe, on: upright.size(of: stored), limits: limits, resources)
        let turn = Geometry(of: stored, turn: upright)
        let back = Geometry(of: size, turn: upright.inverse)
        let turned =
            upright == .upright
            ? steps
            : [.geometry(turn)] + steps + (staysUpright ? [] : [.geometry(back)])
        let isKept = upright == .upright || !staysUpright
        let passes = Planner.passes(of: turned, keepsAlpha: false)
        let isOpaque = !steps.contains(where: \.changesAlpha)
        let hasByteSamples = layout.bits == 8 && isOpaque
        let supportsPlanes = [8, DeepColour.bits].contains(layout.bits) && isOpaque
        if supportsPlanes, let area = Self.area(of: stored, passes) {
            let (left, top) = (area.left & -layout.across, area.top & -layout.down)
            self.size = try Self.whole(area.width, area.height, layout)
            method = .planes(
                area: PixelArea(
                    left: left, top: top, width: self.size.width, height: self.size.height),
                filters: Self.filters(of: passes), centre: (0, 0))
        } else if hasByteSamples, isKept, !colour.transfer.isHDR, Planner.endInVignette(steps) {
            let filters = Self.filters(of: Planner.passes(of: steps, keepsAlpha: false))
            let centre = (filters.last as? any RadialGain)?.centre
            let storedCentre = turn.toSource(Point(centre?.x ?? 0, centre?.y ?? 0))
            self.size = try Self.whole(stored.width, stored.height, layout)
            method = .planes(
                area: PixelArea(
                    left: 0, top: 0, width: self.size.width, height: self.size.height),
                filters: filters, centre: (storedCentre.x, storedCentre.y))
        } else {
            let result = isKept ? upright.inverse.size(of: size) : size
            self.size = try Self.whole(result.width, result.height, layout)
            method = .frames(
                self.size == result
                    ? passes
                    : Planner.passes(
                        of: turned + [Self.cut(result, to: self.size)], keepsAlpha: false))
        }
    }

    /// Returns the visible part of the frame, if the passes only crop and apply colour filters.
    private static func area(of stored: PixelSize, _ passes: [Pass]) -> PixelArea? {
        var rest = passes[...]
        var area = PixelRectangle(stored)
        if case .geometry(let geometry)? = rest.first, case .crop(let shown) = geometry.kind {
            area = shown
            rest = rest.dropFirst()
        }
        guard rest.allSatisfy(\.isPositionIndependent) else { return nil }
        return PixelArea(area, of: stored)
    }

    private static func filters(of passes: [Pass]) -> [any PixelFilter] {
        passes.flatMap { pass -> [any PixelFilter] in
            if case .pixels(let pixels) = pass { pixels.compactMap(\.working) } else { [] }
        }
    }

    /// Sides are even for any chroma sampling: a plan is made before the stream declares it, and players expect even sides.
    private static let even = 2

    /// Returns the size without the last column and row if they hold no whole chroma sample.
    private static func whole(
        _ width: Int, _ height: Int, _ layout: FrameLayout
    ) throws(Failure) -> PixelSize {
        let (across, down) = (max(even, layout.across), max(even, layout.down))
        let size = PixelSize(width: width & -across, height: height & -down)
        guard size.width > 0, size.height > 0 else {
            throw Failure(
                .invalidValue,
                "The edit leaves \(width) × \(height) pixels of a movie's frames; expected are at least \(across) × "
                    + "\(down), a sample of colour. Crop less.")
        }
        return size
    }

    /// Crops columns at the right and rows at the bottom.
    private static func cut(_ size: PixelSize, to whole: PixelSize) -> Pass {
        .geometry(
            Geometry(
                of: size,
                crop: PixelRectangle(
                    x: 0, y: size.height - whole.height, width: whole.width, height: whole.height)))
    }

    private static func checkHDR(_ recipe: Recipe) throws(Failure) {
        for filter in recipe.filters where !filter.changesNothing {
            guard filter.definition.lightRange(of: filter) == .upToWhite else { continue }
            throw Failure(
                .invalidValue,
                "\(filter.name), with these parameters, is right for light up to white, and the movie is HDR (HLG or PQ), with light "
                    + "above it that would be lost or come out wrong. Leave the filter out, or convert the movie to SDR first."
            )
        }
    }
}
