import Edits
package import Files
import Logging
package import RenderProtocol
import Synchronization

/// Texts of marks, drawn by children of their own.
extension RenderPool {
    /// The memory of a child that draws a text: a program of some 12 MB, its fonts as files and as HarfBuzz keeps them, three planes.
    private static let textBytes = 32 << 20

    /// Returns a text's coverage: from the cache, or drawn by a text child.
    ///
    /// - Parameters:
    ///   - fonts: the fonts' files by digest. Missing ones are reported by the child.
    /// - Throws: the child's failure, such as `missingGlyph`; `untrustedRender` if its coverage is not what it says.
    package func coverage(
        of request: TextRequest, _ fonts: [String: OpenFile], for borrower: Borrower
    ) async throws -> CoveredText {
        if let known = texts.text(for: request) { return known }
        let files = RenderFiles(
            resources: fonts.filter { digest, _ in request.fonts.contains { $0.digest == digest } },
            outputs: [try .inMemory(name: "the coverage of a text")])
        let coverage = try await lend(
            min(Self.textBytes, gate.budget.bytes), to: borrower, program: .texts
        ) { child in
            try await child.draw(request, files)
        }
        let bytes = files.outputs[0].bytes(from: 0, count: coverage.bytes)
        guard bytes.count == coverage.bytes else {
            throw Failure(
                .untrustedRender,
                "a text child has written \(bytes.count) bytes of coverage and reports \(coverage.bytes)."
            )
        }
        for note in coverage.notes { logger.notice("\(note)") }
        let text = CoveredText(coverage: coverage, bytes: bytes)
        texts.keep(text, for: request)
        return text
    }
}

/// A text that is drawn.
package struct CoveredText: Sendable {
    package let coverage: TextCoverage
    /// The planes, one after the other.
    package let bytes: [UInt8]
}

/// The texts that were drawn last. Copyright lines return with each photo of a size; names do not.
///
/// A text is its own key, with the digests of its fonts: what is drawn depends on nothing else, whoever asks.
struct TextCache {
    private var texts: [TextRequest: (text: CoveredText, used: Int)] = [:]
    private var bytes = 0
    private var uses = 0

    /// The most bytes of coverage that a worker keeps.
    static let bytesMax = 16 << 20

    mutating func text(for request: TextRequest) -> CoveredText? {
        guard let index = texts.index(forKey: request) else { return nil }
        uses += 1
        texts.values[index].used = uses
        return texts.values[index].text
    }

    mutating func keep(_ text: CoveredText, for request: TextRequest) {
        guard text.bytes.count <= Self.bytesMax else { return }
        uses += 1
        if let old = texts.updateValue((text, uses), forKey: request) {
            bytes -= Self.cost(of: old.text)
        }
        bytes += Self.cost(of: text)
        while bytes > Self.bytesMax, let oldest = texts.min(by: { $0.value.used < $1.value.used }) {
            texts[oldest.key] = nil
            bytes -= Self.cost(of: oldest.value.text)
        }
    }

    /// A text without ink has a key, too.
    private static func cost(of text: CoveredText) -> Int { text.bytes.count + 2048 }
}
