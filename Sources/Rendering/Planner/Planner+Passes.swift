import Edits
import RenderProtocol

extension Planner {
    /// Rearranges steps into the fewest and cheapest passes with the same result.
    ///
    /// - Parameter keepsAlpha: whether the result can be partly transparent.
    static func passes(of steps: [Pass], keepsAlpha: Bool) -> [Pass] {
        var passes: [Pass] = []
        for step in steps { add(step, to: &passes) }
        passes = passes.flatMap { pass -> [Pass] in
            guard case .geometry(let geometry) = pass else { return [pass] }
            return parts(of: keepsAlpha ? geometry : geometry.withoutPartialEdges)
        }
        hastenCrops(in: &passes)
        delayTurns(in: &passes)
        let fused: [Pass] = passes.reduce(into: []) { fused, pass in
            if case .pixels(let more) = pass, case .pixels(let pixels)? = fused.last {
                fused[fused.count - 1] = .pixels(pixels + more)
            } else {
                fused.append(pass)
            }
        }
        return fused.map(joined)
    }

    /// Appends a step. A geometry is combined with the preceding one. A geometry that only moves whole pixels is placed before
    /// filters that do not depend on the position, so that cropped pixels are never computed.
    private static func add(_ step: Pass, to passes: inout [Pass]) {
        guard case .geometry(let geometry) = step, let last = passes.last else {
            passes.append(step)
            return
        }
        if case .geometry(let before) = last {
            passes[passes.count - 1] = .geometry(before.then(geometry))
        } else if geometry.isLossless, last.isPositionIndependent {
            passes.removeLast()
            add(step, to: &passes)
            passes.append(last)
        } else {
            passes.append(step)
        }
    }

    /// Splits a geometry into a crop to the visible part, a resampling, and a turn, as far as they are needed.
    private static func parts(of geometry: Geometry) -> [Pass] {
        geometry.steps.flatMap { step -> [Pass] in
            guard !step.isLossless else { return [.geometry(step)] }
            let (crop, rest) = step.cutting
            return (crop.map { [.geometry($0)] } ?? []) + [.geometry(rest)]
        }
    }

    /// Moves crops before filters that do not depend on the position, and before turns, so that cropped pixels are neither computed
    /// nor kept.
    private static func hastenCrops(in passes: inout [Pass]) {
        for index in passes.indices {
            guard case .geometry(let first) = passes[index], case .crop = first.kind else {
                continue
            }
            var (crop, position) = (first, index)
            while position > 0 {
                if passes[position - 1].isPositionIndependent {
                    passes.swapAt(position - 1, position)
                } else if case .geometry(let before) = passes[position - 1],
                    case .turn = before.kind
                {
                    let swapped = before.then(crop).steps
                    guard swapped.count == 2 else { break }
                    crop = swapped[0]
                    passes.replaceSubrange(
                        (position - 1)...position, with: swapped.map(Pass.geometry))
                } else {
                    break
                }
                position -= 1
            }
        }
    }

    /// Moves turns after filters that do not depend on the position, if the turns then end the chain or can be combined with a
    /// following geometry. Pixels then stream, and pixels that must be kept until the turn are already final.
    private static func delayTurns(in passes: inout [Pass]) {
        var index = 0
        while index < passes.count {
            defer { index += 1 }
            guard case .geometry(let turn) = passes[index], case .turn = turn.kind else { continue }
            let rest = passes[(index + 1)...]
            let end = rest.firstIndex { !$0.isPositionIndependent } ?? passes.count
            guard end > index + 1 else { continue }
            if end == passes.count {
                passes.append(passes.remove(at: index))
                return
            }
            guard case .geometry(let next) = passes[end] else { continue }
            passes.replaceSubrange(end...end, with: parts(of: turn.then(next)))
            passes.remove(at: index)
            index -= 1
        }
    }
}
