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
    /// The cache is asked only if the borrower's owner may use each font now, and keeps only what a child drew that has met no font
    /// of one owner.
    ///
    /// - Parameters:
    ///   - fonts: the fonts that the borrower's owner may use. Missing ones are reported by the child.
    /// - Throws: the child's failure, such as `missingGlyph`; `untrustedRender` if its reply is not what a text can have.
    package func coverage(
        of request: TextRequest, _ fonts: OwnedFonts, for borrower: Borrower
    ) async throws -> CoveredText {
        let digests = Set(request.fonts.map(\.digest))
        let key = TextCache.Key(owner: borrower.owner, request: request)
        if digests.allSatisfy({ fonts.files[$0] != nil }), let known = texts.text(for: key) {
            return known
        }
        let files = RenderFiles(
            resources: fonts.files.filter { digest, _ in digests.contains(digest) },
            outputs: [
                try .inMemory(name: "the coverage of a text", bytes: TextRequest.coverageBytesMax)
            ])
        let hasOwnFont = !fonts.ofOwner.isDisjoint(with: digests)
        let (coverage, isOfCleanChild) = try await lend(
            min(Self.textBytes, gate.budget.bytes), to: borrower, program: .texts
        ) { child in
            // A start may take longer than a text, on a machine that is busy.
            if child.isNew { _ = try await child.confinement() }
            return (
                try await child.draw(request, files, hasOwnFont: hasOwnFont),
                !child.use.hasMetOwnFont
            )
        }
        let bytes = files.outputs[0].bytes(from: 0, count: coverage.bytes)
        guard bytes.count == coverage.bytes else {
            throw Failure(
                .ioFailure,
                "\(bytes.count) of \(coverage.bytes) bytes of a text's coverage can be read.")
        }
        for note in coverage.notes { logger.notice("\(note)") }
        let text = CoveredText(coverage: coverage, bytes: bytes)
        if isOfCleanChild { texts.keep(text, for: key) }
        return text
    }
}

/// The fonts that an owner may use.
package struct OwnedFonts: Sendable {
    /// The files by digest.
    package let files: [String: OpenFile]
    /// The digests of those that lie in no folder of all tenants. Whoever sent such a font may have made it to take over its reader.
    package let ofOwner: Set<String>

    package init(_ files: [String: OpenFile], ofOwner: Set<String>) {
        self.files = files
        self.ofOwner = ofOwner
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
/// An honest child draws the same for all owners. The owner is a part of the key nevertheless, because a child that a font has taken
/// over may draw anything for its own.
struct TextCache {
    struct Key: Hashable {
        let owner: Owner
        let request: TextRequest
    }

    private var texts: [Key: (text: CoveredText, used: Int)] = [:]
    private var bytes = 0
    private var uses = 0

    /// The most bytes of coverage that a worker keeps.
    static let bytesMax = 16 << 20

    mutating func text(for key: Key) -> CoveredText? {
        guard let index = texts.index(forKey: key) else { return nil }
        uses += 1
        texts.values[index].used = uses
        return texts.values[index].text
    }

    mutating func keep(_ text: CoveredText, for key: Key) {
        guard text.bytes.count <= Self.bytesMax else { return }
        uses += 1
        if let old = texts.updateValue((text, uses), forKey: key) {
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
