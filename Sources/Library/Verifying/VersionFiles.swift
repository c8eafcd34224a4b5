package import Adjustments
package import Editors
import Files

/// Reads the files of versions and compares them with their provenance, wherever the library keeps them.
package struct VersionFiles {
    private let library: any LibraryStore
    private let asset: AssetPath
    private let editors: EditorRegistry
    private let store: Store
    /// The findings so far.
    package var report: Verification
    /// The renders whose input and edit are as recorded.
    package private(set) var renders: [RecordedRender] = []
    /// The original's digest, once it was read; nil when it cannot be.
    private var originalDigest: String??
    /// Contents that were listed already: undo and redo show one again.
    private var seen: Set<String> = []

    /// The points in which stores differ.
    package struct Store: Sendable {
        /// How the report calls a file.
        let place: @Sendable (StoredFile) async throws(Failure) -> String
        /// Whether a file that cannot be read for this reason is wrong itself; other reasons end the check.
        let isFinding: @Sendable (Failure) -> Bool

        package init(
            place: @escaping @Sendable (StoredFile) async throws(Failure) -> String,
            isFinding: @escaping @Sendable (Failure) -> Bool
        ) {
            (self.place, self.isFinding) = (place, isFinding)
        }
    }

    package init(
        library: any LibraryStore, asset: AssetPath, editors: EditorRegistry,
        report: Verification, _ store: Store
    ) {
        (self.library, self.asset, self.editors) = (library, asset, editors)
        (self.report, self.store) = (report, store)
    }

    /// Reads the files of a version.
    package mutating func check(_ version: Provenance) async throws(Failure) {
        guard let content = version.content else { return }
        var isInputSound = try await isOriginalSound(content)
        var input = StoredFile.original(asset)
        var sound: Set<String> = []
        for file in content.recordedFiles {
            if try await isSound(file, StoredFile(file.name, of: version, asset)) {
                sound.insert(file.name)
            }
        }
        if let base = content.base {
            input = try StoredFile(base.name, of: version, asset)
            isInputSound = sound.contains(base.name)
        }
        let recipe =
            sound.contains(content.adjustment.sidecar)
            ? try await recipe(of: content, in: version) : nil
        let render = try await store.place(StoredFile(content.render.name, of: version, asset))
        guard let rendering = content.rendering else {
            report.add(
                note: .invariant, render,
                "it came with an import: it is not rendered again to be compared.")
            return
        }
        guard isInputSound, let recipe,
            seen.insert("\(content.adjustment.sha256) \(content.render.sha256)").inserted
        else { return }
        renders.append(
            RecordedRender(
                rendering: rendering, source: input, recipe: recipe, image: content.render,
                path: render, isOfPair: content.pairedVideo != nil))
    }

    /// Whether a file has the bytes that are recorded.
    private mutating func isSound(
        _ file: RecordedFile, _ stored: StoredFile
    ) async throws(Failure) -> Bool {
        let place = try await store.place(stored)
        do throws(Failure) {
            // Stores repeat the digest that an object was written with, and need not have compared it since.
            guard let found = try await library.digest(of: stored, isRead: true) else {
                report.add(
                    problem: file.part, place, "it is not there. Restore it from a backup.")
                return false
            }
            if file.isSame(as: found) { return true }
            report.add(
                problem: file.part, place,
                "its \(found.bytes) bytes are not those that were recorded: SHA-256 \(found.sha256), expected "
                    + "\(file.sha256). Restore it from a backup.")
        } catch {
            guard store.isFinding(error) else { throw error }
            report.add(
                problem: file.part, place, error.message + " Restore it from a backup.")
        }
        return false
    }

    private mutating func isOriginalSound(_ content: Content) async throws(Failure) -> Bool {
        let place = try await store.place(.original(asset))
        if originalDigest == nil {
            do throws(Failure) {
                let file = try await library.open(.original(asset))
                originalDigest = .some(
                    try await offPool { () throws(Failure) in try FileDigest.sha256(of: file).hex })
            } catch {
                originalDigest = .some(nil)
                report.add(problem: .original, place, error.message)
            }
        }
        guard case .some(.some(let found)) = originalDigest else { return false }
        if found != content.source.sha256 {
            let sentence =
                "it is not the photo that was edited: its SHA-256 is \(found), expected "
                + "\(content.source.sha256). Restore it, or edit it anew."
            if !report.problems.contains(.init(.original, place, sentence)) {
                report.add(problem: .original, place, sentence)
            }
        }
        return found == content.source.sha256
    }

    /// The recipe to render again: the adjustment data decoded, with the recorded output. nil when they cannot
    /// be decoded or are not as recorded.
    private mutating func recipe(
        of content: Content, in version: Provenance
    ) async throws(Failure) -> Recipe? {
        let place = try await store.place(
            StoredFile(content.adjustment.sidecar, of: version, asset))
        do throws(Failure) {
            let sidecar = try await library.sidecar(of: content, in: version, asset)
            return content.recipe(checking: sidecar, at: place, editors, &report)
        } catch {
            report.add(problem: .adjustmentData, place, error.message)
            return nil
        }
    }
}
