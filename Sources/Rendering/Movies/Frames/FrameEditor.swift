import Codecs
import Edits
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
            : .deep(DeepPlaneProgram(filters, colour))
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

/// Edits frames in planes: a part is copied, or edited code by code.
struct FramePlanes {
    /// The change of codes.
    enum Program {
        case none
        /// 8-bit codes: some rows at a time are copied, and edited in place while they are in the first-level cache.
        case bytes(PlaneProgram)
        /// 10-bit codes, edited while they are copied.
        case deep(DeepPlaneProgram)
    }

    private let area: PixelArea
    private let layout: FrameLayout
    private let program: Program

    /// Rows of chroma that are copied and edited together: 46 KB of 1080p, luma included.
    private static let rows = 8

    /// - Parameter area: in luma samples, a whole number of chroma samples.
    init(_ area: PixelArea, _ layout: FrameLayout, _ program: Program) {
        (self.area, self.layout, self.program) = (area, layout, program)
    }

    func edit(_ source: [SourcePlane], into target: [TargetPlane]) {
        let (across, down) = (layout.across, layout.down)
        let chromaRows = area.height / down
        for first in stride(from: 0, to: chromaRows, by: Self.rows) {
            let rows = min(Self.rows, chromaRows - first)
            if case .deep(let program) = program {
                program.edit(first..<first + rows) { deepRows($0, source, target) }
                continue
            }
            copy(source[0], target[0], from: first * down, rows: rows * down, across: 1, down: 1)
            copy(source[1], target[1], from: first, rows: rows, across: across, down: down)
            copy(source[2], target[2], from: first, rows: rows, across: across, down: down)
            guard case .bytes(let program) = program else { continue }
            func samples(_ plane: Int, _ row: Int) -> UnsafeMutablePointer<UInt8> {
                target[plane].row(row).assumingMemoryBound(to: UInt8.self)
            }
            program.run(first..<first + rows, top: layout.height - area.top - first * down) { row in
                PlaneRows(
                    inPlace: samples(0, row * down), stride: target[0].stride,
                    blue: samples(1, row), red: samples(2, row), count: area.width / across,
                    across: across, down: down)
            }
        }
    }

    private func deepRows(
        _ row: Int, _ source: [SourcePlane], _ target: [TargetPlane]
    ) -> PlaneRows<UInt16> {
        let (across, down) = (layout.across, layout.down)
        let luma = row * down
        let lower = luma + down - 1
        func samples(_ plane: Int, _ row: Int) -> UnsafePointer<UInt16> {
            let (top, left) =
                plane == 0 ? (area.top, area.left) : (area.top / down, area.left / across)
            return source[plane].row(top + row).assumingMemoryBound(to: UInt16.self) + left
        }
        func newSamples(_ plane: Int, _ row: Int) -> UnsafeMutablePointer<UInt16> {
            target[plane].row(row).assumingMemoryBound(to: UInt16.self)
        }
        return PlaneRows<UInt16>(
            luma: samples(0, luma), below: samples(0, lower), blue: samples(1, row),
            red: samples(2, row), newLuma: newSamples(0, luma), newBelow: newSamples(0, lower),
            newBlue: newSamples(1, row), newRed: newSamples(2, row), count: area.width / across,
            across: across, down: down)
    }

    private func copy(
        _ source: SourcePlane, _ target: TargetPlane, from first: Int, rows: Int, across: Int,
        down: Int
    ) {
        for row in first..<first + rows {
            target.row(row).copyMemory(
                from: source.row(area.top / down + row) + area.left / across * layout.sampleBytes,
                byteCount: area.width / across * layout.sampleBytes)
        }
    }
}

/// A plane to read. The caller owns the memory.
struct SourcePlane {
    /// The first sample of the first row. Samples of more than 8 bits have two bytes in the machine's byte order.
    let start: UnsafeRawPointer
    /// Bytes from one row to the next.
    let stride: Int

    /// Returns a row's samples, as bytes.
    func row(_ row: Int) -> UnsafeRawPointer { start + row * stride }
}

/// A plane to write. The caller owns the memory.
struct TargetPlane {
    /// The first sample of the first row, as in ``SourcePlane``.
    let start: UnsafeMutableRawPointer
    let stride: Int

    /// Returns a row's samples, as bytes.
    func row(_ row: Int) -> UnsafeMutableRawPointer { start + row * stride }
}

extension SourcePlane {
    init(_ plane: DecodedFrame.Plane) { self.init(start: plane.start, stride: plane.stride) }
}

extension TargetPlane {
    init(_ plane: VideoEncoder.Plane) { self.init(start: plane.start, stride: plane.stride) }
}

extension FrameLayout {
    var across: Int { 1 << chromaShift.x }
    var down: Int { 1 << chromaShift.y }

    /// Returns the same layout for another picture size, with all that is known of its colours.
    func sized(_ size: PixelSize, _ colour: FrameColour.Declaration) -> FrameLayout {
        FrameLayout(
            width: size.width, height: size.height, bits: bits, hasChroma: hasChroma,
            chromaShift: chromaShift, primaries: colour.primaries, transfer: colour.transfer,
            matrix: colour.matrix, isFullRange: colour.isFullRange)
    }
}
