import Edits
import Filters
import RenderProtocol

extension Planner {
    /// Returns a pass whose neighbouring matrices are one matrix, and neighbouring curves one curve; see ``PixelFusion``.
    static func joined(_ pass: Pass) -> Pass {
        guard case .pixels(let pixels) = pass else { return pass }
        var rest = pixels[...]
        return .pixels(
            PixelFusion.groups(of: pixels.compactMap(\.working)).map { group in
                let members = rest.prefix(group.count)
                rest = rest.dropFirst(group.count)
                return Pass.Pixel(
                    filters: members.flatMap(\.filters), working: group.working,
                    joined: group.form.map(RenderPlan.PixelStep.Joined.init))
            })
    }
}

extension RenderPlan.PixelStep.Joined {
    fileprivate init(_ form: PixelFusion.Joined) {
        self =
            switch form {
            case .matrix: .matrix
            case .curve: .curve
            case .encodedMatrices: .encodedMatrices
            case .nothing: .nothing
            }
    }
}
