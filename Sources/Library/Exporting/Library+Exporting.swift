public import Adjustments
import Files
import FoundationEssentials
public import SystemPackage

extension Library {
    /// The folder in which files are written before they get their names. Complete or gone.
    static let exportStaging = FilePath.Component(".minilab-export-new")
    /// The same, once it is complete: what is in it has a right to its name.
    static let exportSealed = FilePath.Component(".minilab-export")

    /// Writes photos into a folder, under names that Apple's tools pair.
    ///
    /// A photo's files are written to a hidden folder, which is renamed when it is complete, and moved from there.
    /// So each file is complete or absent, none is ever overwritten, and of a photo all files are there or none;
    /// after a crash between two moves the next export to the folder does the rest.
    ///
    /// - Returns: what was written, in the order of the photos; what a crash had left comes first.
    /// - Throws: `invalidValue` when no names are free, `ioFailure`, `noSpace`.
    public func export(
        _ photos: [ExportedPhoto], to folder: FilePath
    ) throws(Failure) -> (finished: [String], reports: [ExportReport]) {
        try files.makeFolder(folder)
        return try AssetLock.hold(folder, isFolder: true) { () throws(Failure) in
            try files.remove(folder.appending(Self.exportStaging))
            let finished = try place(in: folder)
            let names = try DCFName.choose(
                for: photos.map(\.asset.stem), besides: files.list(folder))
            var reports: [ExportReport] = []
            for (photo, name) in zip(photos, names) {
                reports.append(try write(photo, as: name, in: folder))
            }
            return (finished, reports)
        }
    }

    private func write(
        _ photo: ExportedPhoto, as name: DCFName, in folder: FilePath
    ) throws(Failure) -> ExportReport {
        let staging = folder.appending(Self.exportStaging)
        try files.makeFolder(staging)
        let wanted = photo.files(as: name)
        do throws(Failure) {
            for file in wanted {
                switch file.source {
                case .file(let path): try files.copy(path, to: staging.appending(file.name))
                case .member(let name, let folder):
                    try files.copy(name, in: folder, to: staging.appending(file.name))
                case .bytes(let data): try files.write(data, to: staging.appending(file.name))
                }
            }
            try files.sync(staging)
        } catch {
            // What cannot be removed now goes with the next export; the reason is what counts.
            try? files.remove(staging)
            throw error
        }
        try files.move(staging, to: folder.appending(Self.exportSealed))
        try files.sync(folder)
        _ = try place(in: folder)
        let isRenamed = DCFName(original: photo.asset.stem) != name
        return ExportReport(
            asset: photo.asset, version: photo.edit?.version, files: wanted.map(\.name),
            notes: (isRenamed ? ["it is called \(name.original) here"] : []) + photo.notes)
    }

    /// Gives what is sealed its names.
    ///
    /// - Throws: `ioFailure` when one of the names is taken meanwhile; then nothing of it has its name.
    private func place(in folder: FilePath) throws(Failure) -> [String] {
        let sealed = folder.appending(Self.exportSealed)
        guard try files.exists(sealed) else { return [] }
        var placed: [String] = []
        for name in try files.list(sealed) {
            do throws(Failure) {
                try files.moveToFreeName(sealed.appending(name), to: folder.appending(name))
            } catch {
                guard try files.exists(folder.appending(name)) else { throw error }
                for name in placed {
                    try files.move(folder.appending(name), to: sealed.appending(name))
                }
                try files.remove(sealed)
                throw error
            }
            placed.append(name)
        }
        try files.sync(folder)
        try files.remove(sealed)
        return placed
    }
}
