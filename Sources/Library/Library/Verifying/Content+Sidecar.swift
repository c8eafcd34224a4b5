package import Edits
package import Editors

extension Content {
    /// Returns the recipe for a second render: the decoded adjustment data, with the recorded output.
    ///
    /// - Parameters:
    ///   - sidecar: the sidecar, whose bytes match the record.
    ///   - path: the path of the sidecar, for the report.
    /// - Returns: nil if the data cannot be decoded or differ from the record.
    package func recipe(
        checking sidecar: AAESidecar, at path: String, _ editors: EditorRegistry,
        _ report: inout Verification
    ) -> Recipe? {
        guard
            adjustment
                == Content.Adjustment(
                    sidecar: adjustment.sidecar, sidecarSHA256: adjustment.sidecarSHA256,
                    sidecar.adjustment)
        else {
            report.add(
                problem: .adjustmentData, path,
                "it is \(sidecar.adjustment.format), or other data, than the provenance says.")
            return nil
        }
        let hasBase = base != nil
        if (sidecar.base == .adjusted) != hasBase, rendering != nil {
            report.add(
                problem: .adjustmentData, path,
                hasBase
                    ? "it says that the edit was made on the original, but the version has a base."
                    : "it says that the edit was made on a base, but the version has none.")
            return nil
        }
        return decode(sidecar, path, editors, &report)
    }

    private func decode(
        _ sidecar: AAESidecar, _ path: String, _ editors: EditorRegistry,
        _ report: inout Verification
    ) -> Recipe? {
        switch editors.open(sidecar.adjustment, of: input.photo) {
        case .undecodable(let failure):
            report.add(problem: .adjustmentData, path, failure.message)
            return nil
        case .cannotHandle(let reason):
            if recipe != nil {
                report.add(
                    note: .adjustmentData, path,
                    "it was read when the version was made, and cannot be now: \(reason)")
            }
            return nil
        case .canHandle(let found):
            guard let recorded = recipe else { return nil }
            // Only Minilab's own format includes the output settings.
            let isOurs =
                sidecar.adjustment.formatIdentifier == AdjustmentData.minilabFormatIdentifier
            guard found.filters == recorded.filters, !isOurs || found.output == recorded.output
            else {
                report.add(
                    problem: .adjustmentData, path,
                    "it decodes to another edit than the provenance has.")
                return nil
            }
            return recorded
        }
    }
}
