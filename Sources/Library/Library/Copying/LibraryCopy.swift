package import Edits

/// Copies a library into another one: originals, versions, drafts, and last the pointers to the current versions.
///
/// There is no journal. Files that the target has with the same bytes are skipped, so the same call completes a
/// copy that was interrupted or that was made while workers ran.
package struct LibraryCopy: Sendable {
    let source: any CopyableLibrary
    let target: any CopyableLibrary
    let options: Options

    /// The most assets that are copied at the same time.
    package static let assetsAtOnce = 4
    /// The most times that the copy of an asset is started. Each repetition means that the asset changed at the
    /// source.
    static let roundsMax = 3

    /// The parts to copy, and the checks.
    package struct Options: Sendable {
        /// Whether originals are copied. If not, they must be where the target expects them.
        package var copiesOriginals = true
        /// Whether all files are read back from the target.
        package var readsBack = false

        package init() {}
    }

    package init(
        from source: any CopyableLibrary, to target: any CopyableLibrary, _ options: Options
    ) {
        (self.source, self.target, self.options) = (source, target, options)
    }

    /// Copies everything: first the edited assets, then the other originals.
    ///
    /// A failure of one asset is reported and does not stop the others.
    ///
    /// - Parameter report: called with each asset when it is done, one at a time.
    /// - Throws: the failures that stop the copy: `storeUnavailable`, `noSpace`, and a list that cannot be read.
    package func run(
        _ report: (CopiedAsset) throws(Failure) -> Void
    ) async throws(Failure) -> CopySummary {
        var summary = CopySummary()
        try await target.sweepCopies()
        var last: AssetPath?
        repeat {
            let page = try await source.assets(after: last)
            try await each(page.assets, &summary, report) { asset throws(Failure) in
                try await copyEdited(asset)
            }
            last = page.next
        } while last != nil
        guard options.copiesOriginals else { return summary }
        try await source.originals { page throws(Failure) in
            for refused in page.refused {
                let line = CopiedAsset(asset: refused.name, result: .refused(refused.failure))
                summary.add(line)
                try report(line)
            }
            try await each(page.assets, &summary, report) { asset throws(Failure) in
                // An edited asset was copied with its versions before. If it was edited only now, the next copy
                // includes it.
                try await source.isEdited(asset) ? nil : try await copyUnedited(asset)
            }
        }
        return summary
    }

    /// Calls `body` for each of `assets`, a few at a time.
    private func each(
        _ assets: [AssetPath], _ summary: inout CopySummary,
        _ report: (CopiedAsset) throws(Failure) -> Void,
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
                    try report(line)
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
