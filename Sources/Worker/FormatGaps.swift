public import Adjustments
import Files
import Headers
import RenderProtocol

/// Formats that the libraries of this machine failed to write or to read back when the worker started.
public struct FormatGaps: Sendable, Equatable {
    /// Why, by format.
    public let reasons: [Recipe.Format: String]

    /// Gathers them; none unless given.
    public init(_ reasons: [Recipe.Format: String] = [:]) { self.reasons = reasons }

    /// Refuses a plan that writes such a format: nothing is rendered for hours and then found broken.
    ///
    /// - Throws: `formatUnavailable`.
    func check(_ plan: RenderPlan) throws(Failure) {
        let format = plan.output.format
        guard plan.lane != .copy, let reason = reasons[format] else { return }
        throw Self.failure(format, reason)
    }

    /// The failure of a photo, unless it is of such a format and the failure could be the library's: a photo that is sound is
    /// not called damaged.
    func explaining(_ failure: Failure, of source: OpenFile?) -> Failure {
        guard !reasons.isEmpty, Self.ambiguous.contains(failure.code), let source,
            let read = PhotoFormat(
                sniffing: source.bytes(from: 0, count: PhotoFormat.sniffedBytes)),
            let gap = reasons.first(where: { PhotoFormat($0.key) == read })
        else { return failure }
        return Self.failure(gap.key, gap.value)
    }

    /// Codes that a reader gives both for a damaged photo and because of a damaged library.
    private static let ambiguous: Set<FailureCode> = [
        .damagedPhoto, .unsupportedFormat, .internalError,
    ]

    private static func failure(_ format: Recipe.Format, _ reason: String) -> Failure {
        Failure(
            .formatUnavailable,
            "This worker's machine cannot write and read \(format.rawValue): \(reason) The worker tried it when it "
                + "started. Compare `minilab version --libraries` with a machine that can, repair the packages, restart "
                + "the worker, and replay the job.")
    }
}
