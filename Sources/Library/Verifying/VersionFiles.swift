import Adjustments
import Editors
import Files
import FoundationEssentials
import SystemPackage

/// Reads the files of versions and compares them with their provenance.
struct VersionFiles {
    let library: LibraryFolder
    let asset: AssetPath
    let editors: EditorRegistry
    var report: Verification
    private(set) var renders: [RecordedRender] = []
    /// The original's digest, once it was read; nil when it cannot be.
    private var originalDigest: String??
    /// Contents that were made again already: undo and redo show one again.
    private var seen: Set<String> = []

    init(library: LibraryFolder, asset: AssetPath, editors: EditorRegistry, report: Verification) {
        self.library = library
        self.asset = asset
        self.editors = editors
        self.report = report
    }

    /// Reads the files of a version.
    mutating func check(_ version: Provenance) throws(Failure) {
        let folder = library.folder(of: version, asset)
        let before = self
        try read(version, in: folder)
        // Files are read without the lock, which a worker may want meanwhile.
        guard !report.isSound, try !library.files.exists(folder) else { return }
        self = before
        report.add(
            note: .stray, folder.string,
            "it went while it was looked at: discarded, published or collected by somebody else.")
    }

    private mutating func read(_ version: Provenance, in folder: FilePath) throws(Failure) {
        try checkStrays(version, in: folder)
        guard let content = version.content else { return }
        var input = StoredFile.original(asset)
        var isInputWhole = checkOriginal(content)
        if let base = content.base {
            input = try StoredFile(base.name, of: version, asset)
            isInputWhole = check(.base, base.name, in: folder, base.input.sha256)
        }
        let render = folder.appending(content.render.name)
        check(.render, content.render.name, in: folder, content.render.sha256)
        for preview in content.previews {
            check(.preview, preview.image.name, in: folder, preview.image.sha256)
        }
        let recipe = checkSidecar(of: content, in: folder)
        guard let rendering = content.rendering else {
            report.add(
                note: .invariant, render.string,
                "it came with an import: it is not rendered again to be compared.")
            return
        }
        guard isInputWhole, let recipe,
            seen.insert("\(content.adjustment.sha256) \(content.render.sha256)").inserted
        else { return }
        renders.append(
            RecordedRender(
                rendering: rendering, source: input, recipe: recipe, image: content.render,
                path: render.string))
    }

    private mutating func checkStrays(
        _ version: Provenance, in folder: FilePath
    ) throws(Failure) {
        let known = Set((version.content?.fileNames ?? []) + [Provenance.fileName])
        let folders = Set(known.compactMap { $0.split(separator: "/").dropLast().first })
        for name in try library.files.list(folder) where !known.contains(name) {
            let path = folder.appending(name)
            // Of a link there is nothing to list: it leads anywhere.
            let isKnown =
                folders.contains(Substring(name)) ? try library.files.isFolder(path) : false
            let inside = isKnown ? try library.files.list(path).map { name + "/" + $0 } : [name]
            for name in inside where !known.contains(name) {
                report.add(
                    problem: .stray, folder.pushing(FilePath(name)).string,
                    "the version does not have such a file. Move it away.")
            }
        }
    }

    private mutating func checkOriginal(_ content: Content) -> Bool {
        let path = library.originals.pushing(FilePath(asset.string)).string
        if originalDigest == nil {
            do throws(Failure) {
                originalDigest = .some(
                    try FileDigest.sha256(of: library.openOriginal(of: asset)).hex)
            } catch {
                originalDigest = .some(nil)
                report.add(problem: .original, path, error.message)
            }
        }
        guard case .some(.some(let found)) = originalDigest else { return false }
        if found != content.source.sha256 {
            let sentence =
                "it is not the photo that was edited: its SHA-256 is \(found), expected "
                + "\(content.source.sha256). Restore it, or edit it anew."
            if !report.problems.contains(.init(.original, path, sentence)) {
                report.add(problem: .original, path, sentence)
            }
        }
        return found == content.source.sha256
    }

    /// Whether a file has the bytes that are recorded.
    @discardableResult
    private mutating func check(
        _ part: Verification.Part, _ name: String, in folder: FilePath, _ recorded: String
    ) -> Bool {
        let path = folder.pushing(FilePath(name))
        do throws(Failure) {
            let found = try library.files.digest(of: name, in: folder)
            if found.hex == recorded { return true }
            report.add(
                problem: part, path.string,
                "its \(found.bytes) bytes are not those that were recorded: SHA-256 \(found.hex), expected "
                    + "\(recorded). Restore it from a backup.")
        } catch {
            report.add(problem: part, path.string, error.message + " Restore it from a backup.")
        }
        return false
    }

    /// The recipe to render again: the adjustment data decoded, with the recorded output. nil when they cannot
    /// be decoded or are not as recorded.
    private mutating func checkSidecar(of content: Content, in folder: FilePath) -> Recipe? {
        let recorded = content.adjustment
        let path = folder.appending(recorded.sidecar)
        guard check(.adjustmentData, recorded.sidecar, in: folder, recorded.sidecarSHA256)
        else { return nil }
        let sidecar: AAESidecar
        do throws(Failure) {
            sidecar = try AAESidecar(
                reading: library.files.openFile(recorded.sidecar, in: folder))
        } catch {
            report.add(problem: .adjustmentData, path.string, error.message)
            return nil
        }
        return content.recipe(checking: sidecar, at: path.string, editors, &report)
    }
}
