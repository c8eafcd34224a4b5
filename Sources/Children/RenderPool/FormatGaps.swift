public import Edits
import Files
import PhotoFiles
package import RenderProtocol

/// The formats that this machine's libraries failed to write or to read back when the worker started.
public struct FormatGaps: Sendable, Equatable {
    /// The reason of each failure, by format.
    public let reasons: [Recipe.Format: String]

    /// Creates a set of gaps; by default an empty one.
    public init(_ reasons: [Recipe.Format: String] = [:]) { self.reasons = reasons }

    /// Rejects a plan that writes such a format, so that hours of rendering do not end in a broken file.
    ///
    /// - Throws: `formatUnavailable`.
    func check(_ plan: RenderPlan) throws(Failure) {
        guard !plan.lane.keepsFile else { return }
        try check(plan.output.format)
    }

    /// Rejects such a format of a rendition.
    ///
    /// - Throws: `formatUnavailable`.
    func check(_ format: Recipe.Format) throws(Failure) {
        guard let reason = reasons[format] else { return }
        throw Self.failure(format, reason)
    }

    /// Returns the failure to report for a photo. If the photo has such a format and the library may be the cause,
    /// the failure names the library, so that an intact photo is not reported as damaged.
    func explaining(_ failure: Failure, of source: OpenFile?) -> Failure {
        guard !reasons.isEmpty, Self.ambiguous.contains(failure.code), let source,
            let read = PhotoFormat(
                sniffing: source.bytes(from: 0, count: PhotoFormat.sniffedBytes)),
            let gap = reasons.first(where: { PhotoFormat($0.key) == read })
        else { return failure }
        return Self.failure(gap.key, gap.value)
    }

    /// The codes that a reader returns both for a damaged photo and for a broken library.
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

    /// Returns the failure for bits of a sample that were tried when a job asked for them.
    ///
    /// - Parameter path: the object whose field asks for them, such as `edit.output`.
    static func failure(
        _ format: Recipe.Format, _ bitDepth: Recipe.BitDepth, _ reason: String, at path: String
    ) -> Failure {
        let others = format.bitDepths.filter { !format.triedBitDepths.contains($0) }
            .map { "\($0.rawValue)" }.joined(separator: " or ")
        return Failure(
            .formatUnavailable,
            "This worker's machine cannot write \(format.rawValue) of \(bitDepth.rawValue) bits: \(reason) The worker tried it "
                + "when a job first asked for it. Ask for \(others) as \(path).bitDepth, or replay the job where "
                + "newer libraries can.")
    }
}

extension PhotoFormat {
    /// Returns the format in which a result of an output format is read.
    package init(_ format: Recipe.Format) {
        self =
            switch format {
            case .jpeg: .jpeg
            case .png: .png
            case .tiff: .tiff
            case .webp: .webp
            case .heic, .avif: .heif
            case .jxl: .jxl
            case .mov, .mp4: .movie
            }
    }
}
