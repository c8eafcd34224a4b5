package import Adjustments

/// Copies a library into another one: originals, versions and drafts, and at last what is current.
///
/// There is no journal. Whatever the target has with the same bytes is skipped, so a copy that was cut off, or one that
/// was made while workers ran, is made whole by the same call.
package struct LibraryCopy: Sendable {
    let source: any CopyableLibrary
    let target: any CopyableLibrary
    let options: Options

    /// Most assets that are copied at one time.
    package static let assetsAtOnce = 4
    /// Most times that an asset is begun: each time it has changed at the source meanwhile.
    static let roundsMax = 3

    /// The parts that are copied, and how they are checked.
    package struct Options: Sendable {
        /// Whether originals are copied; else they are where the target looks for them.
        package var copiesOriginals = true
        /// Whether everything is read back from the target.
        package var readsBack = false

        package init() {}
    }

    package init(
        from source: any CopyableLibrary, to target: any CopyableLibrary, _ options: Options
    ) {
        (self.source, self.target, self.options) = (source, target, options)
    }

    /// Copies everything: the assets that anybody has edited, then the other originals.
    ///
    /// A fault of one asset is told and does not stop the others.
    ///
    /// - Parameter tell: gets each asset when it is done, one at a time.
    /// - Throws: what stops the others too: `storeUnavailable`, `noSpace`, and a list that cannot be read.
    package func run(
        _ tell: (CopiedAsset) throws(Failure) -> Void
    ) async throws(Failure) -> CopySummary {
        var summary = CopySummary()
        try await target.sweepCopies()
        var place: AssetPath?
        repeat {
            let page = try await source.assets(after: place)
            try await each(page.assets, &summary, tell) { asset throws(Failure) in
                try await copyEdited(asset)
            }
            place = page.next
        } while place != nil
        guard options.copiesOriginals else { return summary }
        try await source.originals { page throws(Failure) in
            for refused in page.refused {
                let line = CopiedAsset(asset: refused.name, result: .refused(refused.failure))
                summary.add(line)
                try tell(line)
            }
            try await each(page.assets, &summary, tell) { asset throws(Failure) in
                // With its versions before; or it is edited just now, and the next pass has it.
                try await source.isEdited(asset) ? nil : try await copyUnedited(asset)
            }
        }
        return summary
    }

    /// Does `body` for each of `assets`, a few at one time.
    private func each(
        _ assets: [AssetPath], _ summary: inout CopySummary,
        _ tell: (CopiedAsset) throws(Failure) -> Void,
        _ body: @escaping @Sendable (AssetPath) async throws(Failure) -> CopiedAsset.Result?
    ) async throws(Failure) {
        let stopping = await withTaskGroup(of: CopiedAsset?.self) { group in
            var rest = assets.makeIterator()
            func begin() {
                guard let asset = rest.next() else { return }
                group.addTask {
                    do throws(Failure) {
                        let result = try await body(asset)
                        return result.map { CopiedAsset(asset: asset.string, result: $0) }
                    } catch {
                        return CopiedAsset(asset: asset.string, result: .refused(error))
                    }
                }
            }
            for _ in 0..<Self.assetsAtOnce { begin() }
            var stopping: Failure?
            while let line = await group.next() {
                if stopping == nil { begin() }
                guard let line else { continue }
                do throws(Failure) {
                    summary.add(line)
                    try tell(line)
                } catch {
                    stopping = error
                }
                if case .refused(let failure) = line.result, failure.stopsCopy {
                    stopping = stopping ?? failure
                }
            }
            return stopping
        }
        if let stopping { throw stopping }
    }
}

extension Failure {
    /// Whether the next asset would fail too.
    fileprivate var stopsCopy: Bool { code == .storeUnavailable || code == .noSpace }
}
