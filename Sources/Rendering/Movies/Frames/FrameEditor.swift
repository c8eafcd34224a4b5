import Edits
import Codecs
import Filters
import RenderProtocol

/// Edits the decoded frames of a movie, one after the other, into the planes of an encoder.
///
/// Work that frames share is done once: a plan, tables, and the memo of colours. Frames stay in their stored orientation, and the
/// container's turn still applies. Not thread-safe.
final class FrameEditor {
    /// The ways to edit frames.
    enum Lane: Equatable {
        /// Code by code in planes; see ``PlaneProgram``.
        case planes
        /// In rows of linear light; see ``RowPlan``.
        case frames
    }

    let lane: Lane
    /// The layout of the result: the source's colours and chroma, and a size of whole chroma samples.
    let result: FrameLayout
    private let layout: FrameLayout
    private let edit: ([SourcePlane], [TargetPlane]) throws(Failure) -> Void

    /// Plans an edit.
    ///
    /// - Parameters:
    ///   - recipe: in pixels of the upright frame, without automatic filters.
    ///   - layout: the layout of the decoded frames.
    ///   - colour: the colour of the decoded frames.
    ///   - upright: the turn with which the container shows frames; filters see positions after it.
    ///   - staysUpright: whether frames are written upright.
    ///   - resources: the files that the recipe names.
    /// - Throws: errors of ``FramePlan``.
    init(
        _ recipe: Recipe, layout: FrameLayout, colour: FrameColour, upright: Orientation,
        staysUpright: Bool = false, limits: RenderLimits = RenderLimits(),
        resources: Resources = .none
    ) throws(Failure) {
        let plan = try FramePlan(
            recipe, layout, colour, upright: upright, staysUpright: staysUpright, limits: limits,
            resources)
        self.layout = layout
        result = layout.sized(plan.size, colour.declared)
        switch plan.method {
        case .planes(let area, let filters, let storedCentre):
            lane = .planes
            let centre = (storedCentre.x - Double(area.left), storedCentre.y)
            let planes = FramePlanes(area, layout, Self.program(filters, layout, colour, centre))
            edit = { source, target throws(Failure) in planes.edit(source, into: target) }
        case .frames(let passes):
            lane = .frames
            let runner = FrameRunner(passes, layout, colour, result: result)
            edit = { source, target throws(Failure) in runner.edit(source, into: target) }
        }
    }

    private static func program(
        _ filters: [any PixelFilter], _ layout: FrameLayout, _ colour: FrameColour,
        _ centre: (x: Double, y: Double)
    ) -> FramePlanes.Program {
        if filters.isEmpty { return .none }
        return layout.bits == 8
            ? .bytes(
                PlaneProgram(filters: filters, colour: PlaneColour(colour), centre: centre))
            : .deep(DeepPlaneProgram(filters, layout, colour))
    }

    /// Edits a frame.
    ///
    /// - Parameters:
    ///   - frame: a frame of the editor's layout.
    ///   - planes: the planes of an encoder for ``result``.
    /// - Throws: `unsupportedFormat` for a frame of another layout.
    func edit(_ frame: DecodedFrame, into planes: [VideoEncoder.Plane]) throws(Failure) {
        let found = frame.layout
        guard
            found.width == layout.width, found.height == layout.height, found.bits == layout.bits,
            found.hasChroma == layout.hasChroma, found.chromaShift == layout.chromaShift
        else {
            throw Failure(
                .unsupportedFormat,
                "Frame \(frame.rank) has \(found.width) × \(found.height) samples of \(found.bits) bits, and the movie "
                    + "\(layout.width) × \(layout.height) of \(layout.bits): a movie that changes within is not "
                    + "supported.")
        }
        try edit(frame.planes.map(SourcePlane.init), into: planes.map(TargetPlane.init))
    }

    /// Edits a frame in planes that the caller owns: three each.
    func edit(_ source: [SourcePlane], into target: [TargetPlane]) throws(Failure) {
        guard source.count == 3, target.count == 3, target[1].stride == target[2].stride else {
            throw Failure(
                .internalError,
                "A frame came with \(source.count) planes and \(target.count) to write; expected are three each, and chroma in rows of the same length."
            )
        }
        try edit(source, target)
    }
}
