public import Edits
public import Editors
package import Files
import FoundationEssentials

extension LibraryStore {
    /// Returns the adjustment data of a version's content.
    ///
    /// - Throws: `badSidecar`, `ioFailure`.
    public func sidecar(
        of content: Content, in version: Provenance, _ asset: AssetPath
    ) async throws(Failure) -> AAESidecar {
        let name = content.adjustment.sidecar
        return try await sidecar(in: open(StoredFile(name, of: version, asset)))
    }

    /// Returns an uploaded sidecar below the originals.
    ///
    /// - Throws: `missingAsset`, `assetOutsideLibrary`, `badSidecar`, `ioFailure`.
    public func sidecar(at path: AssetPath) async throws(Failure) -> AAESidecar {
        try await sidecar(in: open(.original(path)))
    }

    private func sidecar(in file: OpenFile) async throws(Failure) -> AAESidecar {
        try await offPool { () throws(Failure) in try AAESidecar(reading: file) }
    }
}

extension AAESidecar {
    /// Reads a sidecar's file.
    ///
    /// - Throws: `badSidecar`, `ioFailure`.
    package init(reading file: OpenFile) throws(Failure) {
        let bytes = try FileSystem().read(
            file, bytesMax: Self.fileBytesMax, oversized: .badSidecar)
        do throws(Failure) {
            try self.init(bytes: Data(bytes))
        } catch {
            throw Failure(error.code, "\(file.name): \(error.message)")
        }
    }
}
