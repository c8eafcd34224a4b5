import Edits
import Files
import FoundationEssentials
import SystemPackage

/// Parts of movies that are being rendered:
///
/// ```
/// <root>/segments/<two digits>/<the other 62>/<number>-<SHA-256>     a part of the render of a key
/// ```
extension LibraryFolder {
    /// Copies an existing part into a file.
    ///
    /// - Returns: false if there is no intact part. The content of the file is then undefined.
    func readMoviePart(_ name: MoviePartName, into target: OpenFile) throws(Failure) -> Bool {
        let folder = path(ofMovieParts: name.render.hex)
        for file in try files.list(folder) where file.hasPrefix("\(name.number)-") {
            let source: OpenFile
            do throws(Failure) {
                source = try OpenFile(reading: folder.appending(file).string)
            } catch {
                continue  // collected in the meantime
            }
            try target.cut(to: 0)
            let digest = try FileCopy.copy(source, to: target)
            if file == "\(name.number)-\(digest.hex)" { return true }
            try files.remove(folder.appending(file))
        }
        return false
    }

    /// Stores a copy of a part for a later worker.
    func keepMoviePart(_ part: OpenFile, as name: MoviePartName) throws(Failure) {
        let folder = path(ofMovieParts: name.render.hex)
        _ = try files.makeFolder(folder)
        let new = folder.appending(".\(UUID().uuidString)")
        do throws(Failure) {
            let digest = try FileCopy.copy(part, toNew: new.string)
            try files.move(new, to: folder.appending("\(name.number)-\(digest.hex)"))
        } catch {
            try files.remove(new)
            throw error
        }
    }

    /// Removes the parts of a movie.
    func removeMovieParts(of render: RenderKey) throws(Failure) {
        try files.remove(path(ofMovieParts: render.hex))
    }

    /// Removes the parts of movies that were not written for ``MoviePartName/age``.
    func removeOldMovieParts(before now: Date) throws(Failure) {
        let oldest = now.addingTimeInterval(-Double(MoviePartName.age))
        for prefix in try files.list(movieParts) {
            for rest in try files.list(movieParts.appending(prefix)) {
                let folder = movieParts.appending(prefix).appending(rest)
                guard let written = try files.modified(folder), written < oldest else { continue }
                try files.remove(folder)
            }
        }
    }

    private var movieParts: FilePath { root.appending("segments") }

    private func path(ofMovieParts key: String) -> FilePath {
        movieParts.appending(String(key.prefix(2))).appending(String(key.dropFirst(2)))
    }
}
