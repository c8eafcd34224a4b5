public import Edits
public import Files
import FoundationEssentials
public import SystemPackage

/// Writes photos of a library into a folder, with names that Apple's tools pair.
///
/// A photo's files are written to a hidden folder, which is renamed when it is complete, and are moved from there.
/// So each file is complete or absent, no file is ever overwritten, and either all files of a photo exist or none.
/// After a crash between two moves, the next export to the folder moves the remaining files.
public struct Exporter: Sendable {
    private let library: any LibraryStore
    private let folder: FilePath
    private let files: FileSystem

    /// The folder in which files are written before they are named. It is completed or removed.
    static let staging = FilePath.Component(".minilab-export-new")
    /// The same folder after its completion. Its files are entitled to their names.
    static let sealed = FilePath.Component(".minilab-export")

    /// Creates an exporter of a library's photos to a folder.
    public init(_ library: any LibraryStore, to folder: FilePath, files: FileSystem = FileSystem())
    {
        self.library = library
        self.folder = folder
        self.files = files
    }

    /// Exports photos.
    ///
    /// - Returns: the written files, in the order of the photos, after those that a crash had left unmoved.
    /// - Throws: `invalidValue` if no names are free, `ioFailure`, `noSpace`.
    public func export(
        _ photos: [ExportedPhoto]
    ) async throws(Failure) -> (finished: [String], reports: [ExportReport]) {
        let (lock, finished, names) = try await offPool { () throws(Failure) in
            try files.makeFolder(folder)
            let lock = try AssetLock.acquire(folder, isFolder: true)
            try files.remove(folder.appending(Self.staging))
            let finished = try finish()
            let names = try DCFName.choose(
                for: photos.map(\.asset.stem), besides: files.list(folder))
            return (lock, finished, names)
        }
        defer { withExtendedLifetime(lock) {} }
        var reports: [ExportReport] = []
        for (photo, name) in zip(photos, names) {
            reports.append(try await write(photo, as: name))
        }
        return (finished, reports)
    }

    private func write(
        _ photo: ExportedPhoto, as name: DCFName
    ) async throws(Failure) -> ExportReport {
        let staging = folder.appending(Self.staging)
        let wanted = photo.files(as: name)
        do throws(Failure) {
            try await offPool { () throws(Failure) in _ = try files.makeFolder(staging) }
            for file in wanted {
                try await write(file.source, to: staging.appending(file.name))
            }
        } catch {
            // Ignored: the next export removes the folder, and the first error is the one to report.
            try? await offPool { () throws(Failure) in try files.remove(staging) }
            throw error
        }
        return try await offPool { () throws(Failure) in
            try files.sync(staging)
            try files.move(staging, to: folder.appending(Self.sealed))
            try files.sync(folder)
            _ = try finish()
            let isRenamed = DCFName(original: photo.asset.stem) != name
            return ExportReport(
                asset: photo.asset, version: photo.edit?.version, files: wanted.map(\.name),
                notes: (isRenamed ? ["it is called \(name.original) here"] : []) + photo.notes)
        }
    }

    private func write(
        _ source: ExportedPhoto.Source, to path: FilePath
    ) async throws(Failure) {
        switch source {
        case .bytes(let data):
            try await offPool { () throws(Failure) in try files.write(data, to: path) }
        case .stored(let stored):
            let file = try await library.open(stored)
            try await offPool { () throws(Failure) in try files.copy(file, to: path) }
        }
    }

    /// Moves the files of the sealed folder to their names.
    ///
    /// - Throws: `ioFailure` if one of the names was given to another file in the meantime. Then none of the files is moved.
    private func finish() throws(Failure) -> [String] {
        let sealed = folder.appending(Self.sealed)
        guard try files.exists(sealed) else { return [] }
        var moved: [String] = []
        for name in try files.list(sealed) {
            do throws(Failure) {
                try files.moveToFreeName(sealed.appending(name), to: folder.appending(name))
            } catch {
                guard try files.exists(folder.appending(name)) else { throw error }
                for name in moved {
                    try files.move(folder.appending(name), to: sealed.appending(name))
                }
                try files.remove(sealed)
                throw error
            }
            moved.append(name)
        }
        try files.sync(folder)
        try files.remove(sealed)
        return moved
    }
}
