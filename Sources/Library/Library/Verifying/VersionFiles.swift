package import Editors
public import Edits
import Files

/// The result of checking an asset's files, and the renders that can be made again for comparison.
public struct VerifiedFiles: Sendable {
    /// The report so far.
    public let report: Verification
    /// The renders whose input and edit match their records.
    public let renders: [RecordedRender]
    /// The renditions whose files match their records.
    public let renditions: [RecordedRendition]

    package init(
        report: Verification, renders: [RecordedRender] = [], renditions: [RecordedRendition] = []
    ) {
        (self.report, self.renders, self.renditions) = (report, renders, renditions)
    }
}

/// A rendition and its version.
public struct RecordedRendition: Sendable {
    public let version: Provenance
    public let name: String
    public let record: StoredRendition
    /// The path of its file.
    public let path: String

    /// Whether it is among the given number of a hundred that are made again. Its digest decides, so that each check of the same
    /// library makes the same ones.
    public func isSampled(ofHundred share: Int) -> Bool {
        (Int(record.made.sha256.prefix(8), radix: 16) ?? 0) % 100 < share
    }
}

/// A render and its input.
public struct RecordedRender: Sendable {
    public let rendering: Content.Rendering
    /// The input file: base or original.
    public let source: StoredFile
    /// The decoded adjustment data, with the recorded output.
    public let recipe: Recipe
    /// The recorded result.
    public let image: Content.Image
    /// The path of the result.
    public let path: String
    /// Whether it is the still of a Live Photo whose movie was edited with it.
    public let belongsToPair: Bool
}

/// Reads the files of versions and compares them with their provenance, in any kind of store.
package struct VersionFiles {
    private let library: any LibraryReader
    private let asset: AssetPath
    private let editors: EditorRegistry
    /// Returns the location of a file, for the report.
    private let location: @Sendable (StoredFile) async throws(Failure) -> String
    /// Returns whether a failure to read a file is a finding. Other failures end the check.
    private let isFinding: @Sendable (Failure) -> Bool
    /// The findings so far.
    package var report: Verification
    /// The renders whose input and edit match their records.
    package private(set) var renders: [RecordedRender] = []
    /// The renditions whose files match their records.
    private var renditions: [RecordedRendition] = []
    /// The result.
    package var verified: VerifiedFiles {
        VerifiedFiles(report: report, renders: renders, renditions: renditions)
    }
    /// The original's digest after it was read; `.some(nil)` if it cannot be read.
    private var originalDigest: String??
    /// The contents that were already checked: undo and redo show a content again.
    private var seen: Set<String> = []

    package init(
        library: any LibraryReader, asset: AssetPath, editors: EditorRegistry,
        report: Verification,
        location: @escaping @Sendable (StoredFile) async throws(Failure) -> String,
        isFinding: @escaping @Sendable (Failure) -> Bool
    ) {
        (self.library, self.asset, self.editors) = (library, asset, editors)
        (self.report, self.location, self.isFinding) = (report, location, isFinding)
    }

    /// Reads the files of a version.
    package mutating func check(_ version: Provenance) async throws(Failure) {
        try await checkRenditions(of: version)
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
        let render = try await location(StoredFile(content.render.name, of: version, asset))
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
                path: render, belongsToPair: content.pairedVideo != nil))
    }

    /// Compares the renditions of a version with their list.
    private mutating func checkRenditions(of version: Provenance) async throws(Failure) {
        guard let name = VersionName(version.version) else { return }
        let advice = "Send a job in the mode renditions, which makes it again."
        let list: SizeList
        do throws(Failure) {
            list = try await library.sizes(of: name, asset)
        } catch {
            if error.code == .laterFormat {
                report.add(later: .rendition, version.version, error.message)
                return
            }
            guard error.code == .damagedVersion || isFinding(error) else { throw error }
            report.add(problem: .rendition, version.version, error)
            return
        }
        for key in list.names {
            guard let rendition = list.renditions[key] else { continue }
            let file = StoredFile.rendition(asset, version: name, file: rendition.file)
            let location = try await self.location(file)
            do throws(Failure) {
                guard let found = try await library.digest(of: file, isRead: true) else {
                    // It may have been replaced since the list was read.
                    guard try await library.sizes(of: name, asset) == list else { continue }
                    report.add(
                        problem: .rendition, location,
                        "the list of renditions names it, and it does not exist. \(advice)")
                    continue
                }
                guard found.sha256 != rendition.made.sha256 else {
                    renditions.append(
                        RecordedRendition(
                            version: version, name: key, record: rendition, path: location))
                    continue
                }
                guard try await library.sizes(of: name, asset) == list else { continue }
                report.add(
                    problem: .rendition, location,
                    "its \(found.bytes) bytes are not those that were recorded: SHA-256 \(found.sha256), expected "
                        + "\(rendition.made.sha256). Remove it. \(advice)")
            } catch {
                guard isFinding(error) else { throw error }
                report.add(problem: .rendition, location, error, advice: advice)
            }
        }
    }

    /// Returns whether a file has the recorded bytes.
    private mutating func isSound(
        _ file: RecordedFile, _ stored: StoredFile
    ) async throws(Failure) -> Bool {
        let location = try await self.location(stored)
        do throws(Failure) {
            // Stores return the digest with which an object was written, and may not have compared it since.
            guard let found = try await library.digest(of: stored, isRead: true) else {
                report.add(
                    problem: file.subject, location, "it does not exist. Restore it from a backup.")
                return false
            }
            if file.isSame(as: found) { return true }
            report.add(
                problem: file.subject, location,
                "its \(found.bytes) bytes are not those that were recorded: SHA-256 \(found.sha256), expected "
                    + "\(file.sha256). Restore it from a backup.")
        } catch {
            guard isFinding(error) else { throw error }
            report.add(
                problem: file.subject, location, error, advice: "Restore it from a backup.")
        }
        return false
    }

    private mutating func isOriginalSound(_ content: Content) async throws(Failure) -> Bool {
        let location = try await self.location(.original(asset))
        if originalDigest == nil {
            do throws(Failure) {
                let file = try await library.open(.original(asset))
                originalDigest = .some(try await FileDigest.digest(of: file).hex)
            } catch {
                originalDigest = .some(nil)
                report.add(problem: .original, location, error)
            }
        }
        guard case .some(.some(let found)) = originalDigest else { return false }
        if found != content.source.sha256 {
            let sentence =
                "it is not the photo that was edited: its SHA-256 is \(found), expected "
                + "\(content.source.sha256). Restore it, or edit it again."
            let isKnown = report.problems.contains {
                ($0.path, $0.sentence) == (location, sentence)
            }
            if !isKnown { report.add(problem: .original, location, sentence) }
        }
        return found == content.source.sha256
    }

    /// Returns the recipe for a second render: the decoded adjustment data, with the recorded output. nil if they
    /// cannot be decoded or differ from the record.
    private mutating func recipe(
        of content: Content, in version: Provenance
    ) async throws(Failure) -> Recipe? {
        let location = try await self.location(
            StoredFile(content.adjustment.sidecar, of: version, asset))
        do throws(Failure) {
            let sidecar = try await library.sidecar(of: content, in: version, asset)
            return content.recipe(checking: sidecar, at: location, editors, &report)
        } catch {
            report.add(problem: .adjustmentData, location, error)
            return nil
        }
    }
}
