import Adjustments
import BlobStore
import Crypto
import Editors
import Files
import Library
import NIOCore

/// The files of a version, compared with what its provenance records of them.
extension BucketVerification {
    mutating func checkFiles(
        of version: Provenance, _ stored: StoredVersion?
    ) async throws(Failure) {
        guard let name = VersionName(version.version) else { return }
        let known = Set(
            (version.content?.fileNames ?? []) + [Provenance.fileName, LibraryKeys.linksFile])
        for key in stored?.keys ?? [] {
            guard let file = library.keys.version(of: key, asset)?.file, !known.contains(file)
            else {
                continue
            }
            report.add(
                problem: .stray, library.place(key),
                "the version does not have such a file. Move it away.")
        }
        guard let content = version.content else { return }
        var soundFiles: Set<String> = []
        for file in content.recordedFiles {
            if try await isSound(file, content, name) { soundFiles.insert(file.name) }
        }
        var source = StoredFile.original(asset)
        var isSourceSound = await isOriginalSound(content)
        if let base = content.base {
            source = try StoredFile(base.name, of: version, asset)
            isSourceSound = soundFiles.contains(base.name)
        }
        let sidecar = content.adjustment.sidecar
        let recipe =
            soundFiles.contains(sidecar)
            ? await recipe(of: content, version) : nil
        let place = library.place(try await library.realKey(content.render.name, of: name, asset))
        guard let rendering = content.rendering else {
            report.add(
                note: .invariant, place,
                "it came with an import: it is not rendered again to be compared.")
            return
        }
        guard isSourceSound, let recipe,
            seen.insert("\(content.adjustment.sha256) \(content.render.sha256)").inserted
        else { return }
        renders.append(
            RecordedRender(
                rendering: rendering, source: source, recipe: recipe, image: content.render,
                path: place))
    }

    /// Whether a file has the bytes that are recorded.
    private mutating func isSound(
        _ file: RecordedFile, _ content: Content, _ version: VersionName
    ) async throws(Failure) -> Bool {
        let key = try await library.realKey(file.name, of: version, asset)
        let part = file.part
        let found: Blob
        do throws(BlobError) {
            found = try await library.store.head(key)
        } catch {
            guard error.code == .notFound else { throw error.failure() }
            report.add(
                problem: part, library.place(key), "it is not there. Restore it from a backup.")
            return false
        }
        if let bytes = file.bytes, found.size != bytes {
            report.add(
                problem: part, library.place(key),
                "it has \(found.size) bytes; \(bytes) are recorded. Restore it from a backup.")
            return false
        }
        // The cache may have the same bytes of another object, which says nothing of this one.
        let digest: BlobDigest
        if let told = found.digest {
            digest = told
        } else {
            digest = try await self.digest(of: key)
        }
        if digest.hex == file.sha256 { return true }
        report.add(
            problem: part, library.place(key),
            "its \(found.size) bytes are not those that were recorded: SHA-256 \(digest.hex), expected "
                + "\(file.sha256). Restore it from a backup.")
        return false
    }

    /// The SHA-256 of an object's bytes, which are kept nowhere.
    private func digest(of key: BlobKey) async throws(Failure) -> BlobDigest {
        var hash = SHA256()
        do throws(BlobError) {
            try await library.store.get(key, nil, ifMatch: nil) { piece in
                piece.withUnsafeReadableBytes { hash.update(bufferPointer: $0) }
            }
        } catch {
            throw error.failure()
        }
        return BlobDigest(hash.finalize())
    }

    private mutating func isOriginalSound(_ content: Content) async -> Bool {
        let place: String
        do throws(Failure) {
            place = library.place(try library.keys.original(of: asset))
            if originalDigest == nil {
                let file = try await library.open(.original(asset))
                originalDigest = .some(
                    try await offPool { () throws(Failure) in try FileDigest.sha256(of: file).hex })
            }
        } catch {
            originalDigest = .some(nil)
            report.add(problem: .original, asset.string, error.message)
            return false
        }
        guard case .some(.some(let found)) = originalDigest else { return false }
        if found != content.source.sha256 {
            let finding = Verification.Finding(
                .original, place,
                "it is not the photo that was edited: its SHA-256 is \(found), expected \(content.source.sha256). "
                    + "Restore it, or edit it anew.")
            if !report.problems.contains(finding) {
                report.add(problem: .original, place, finding.sentence)
            }
        }
        return found == content.source.sha256
    }

    private mutating func recipe(of content: Content, _ version: Provenance) async -> Recipe? {
        do throws(Failure) {
            let sidecar = try await library.sidecar(of: content, in: version, asset)
            return content.recipe(
                checking: sidecar, at: "\(place(version))/\(content.adjustment.sidecar)", editors,
                &report)
        } catch {
            report.add(problem: .adjustmentData, place(version), error.message)
            return nil
        }
    }
}
