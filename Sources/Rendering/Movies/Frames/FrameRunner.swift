import Edits
import Codecs

/// Runs the passes of a plan over frames, as ``PassRunner`` does over a photo: the same steps, rows and filters.
///
/// A picture that must be read in any order is kept as light in memory: before a warp that does not stream, and at a turn.
struct FrameRunner {
    private let passes: [Pass]
    private let layout, result: FrameLayout
    private let coding: FrameCoding
    private let memory = LightMemoryPool()

    init(_ passes: [Pass], _ layout: FrameLayout, _ colour: FrameColour, result: FrameLayout) {
        (self.passes, self.layout, self.result) = (passes, layout, result)
        coding = FrameCoding(colour)
    }

    /// Edits a frame of ``layout`` into a frame of ``result``.
    func edit(_ source: [SourcePlane], into target: [TargetPlane]) {
        var light: any LightSource = FrameLight(source, layout, coding)
        var waiting: [Pass.Pixel] = []
        var rest = passes[...]
        while let step = PassStep.next(of: &rest, isWaiting: !waiting.isEmpty) {
            switch step {
            case .filter(let pixels): waiting = pixels
            case .move(let geometry, _):
                if !waiting.isEmpty { light = picture(&waiting, [], over: light) }
                light = light.moved(geometry, memory)
            case .rows(let passes, _):
                if case .geometry(let geometry)? = passes.first, !Planner.streams(geometry),
                    geometry.shrink != (1, 1)
                {
                    light = picture(&waiting, [], over: light, shrink: geometry.shrink)
                }
                if rest.isEmpty {
                    return write(plan(&waiting, passes, over: light), light, to: target)
                }
                light = picture(&waiting, passes, over: light)
            }
        }
        write(plan(&waiting, [], over: light), light, to: target)
    }

    /// Returns the passes over rows, preceded by the pending per-pixel filters.
    private func plan(
        _ waiting: inout [Pass.Pixel], _ passes: [Pass], over light: any LightSource,
        shrink: (columns: Int, rows: Int) = (1, 1), keepsAlpha: Bool = false
    ) -> RowPlan {
        let passes = (waiting.isEmpty ? [] : [.pixels(waiting)]) + passes
        waiting = []
        let hasAlpha = keepsAlpha && (light.layout.hasAlpha || RowPlan.makeAlpha(passes))
        // Light has no curves, and its primaries are sRGB's.
        return RowPlan(
            passes: passes, shrink: shrink, source: light.layout,
            target: .init(sample: .linear, bands: hasAlpha ? 4 : 3), colour: .sRGB,
            targetColour: .sRGB, background: .white)
    }

    private func picture(
        _ waiting: inout [Pass.Pixel], _ passes: [Pass], over light: any LightSource,
        shrink: (columns: Int, rows: Int) = (1, 1)
    ) -> KeptLight {
        let plan = plan(&waiting, passes, over: light, shrink: shrink, keepsAlpha: true)
        let (rows, format) = plan.rows(light.size)
        return KeptLight(
            rows, PixelSize(width: format.width, height: format.height), plan.target, of: light,
            memory)
    }

    private func write(_ plan: RowPlan, _ light: any LightSource, to target: [TargetPlane]) {
        let (rows, format) = plan.rows(light.size)
        precondition(
            format.width == result.width && format.height == result.height,
            "rows are planned for \(result.width) × \(result.height)")
        rows.reader = light
        let columns = FrameWriter.columns(result)
        withUnsafeTemporaryAllocation(of: Float.self, capacity: 3 * result.width + 2 * columns) {
            memory in
            guard let row = memory.baseAddress else { return }
            let writer = FrameWriter(
                target, result, coding, sums: .init(rebasing: memory[(3 * result.width)...]))
            for y in 0..<result.height {
                _ = rows.makeRow(into: row)
                writer.write(row, y: y)
            }
        }
        rows.reader = nil
    }
}
