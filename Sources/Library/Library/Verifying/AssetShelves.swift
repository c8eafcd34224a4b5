import Edits
import Files
import FoundationEssentials
import SystemPackage

/// The entries on the shelves of an asset, read under its lock, so that no process changes them in the meantime.
struct AssetShelves {
    /// The readable versions, by shelf and name.
    private(set) var versions: [Shelf: [String: Provenance]] = [:]
    /// The targets of the pointers.
    private(set) var pointed: [Shelf: VersionName] = [:]
    /// All names, including those of unreadable versions.
    private var names: [Shelf: [String]] = [:]

    init(_ asset: AssetPath, in library: LibraryFolder, _ report: inout Verification)
        throws(Failure)
    {
        for shelf in Shelf.allCases {
            do throws(Failure) {
                pointed[shelf] = try library.pointed(shelf, of: asset)
            } catch {
                report.add(
                    problem: .pointer, library.pointer(shelf, of: asset).string, error.message)
            }
            let folder = library.shelf(shelf, of: asset)
            for name in try library.files.list(folder)
            where !LibraryFolder.isConfirmation(name, on: shelf) {
                let path = folder.appending(name)
                guard VersionName(name) != nil, try library.files.isFolder(path) else {
                    report.add(
                        problem: .stray, path.string,
                        "it is no version; Minilab did not create it. Move it away.")
                    continue
                }
                names[shelf, default: []].append(name)
                versions[shelf, default: [:]][name] = library.read(path, &report)
            }
            if let name = pointed[shelf]?.description, names[shelf]?.contains(name) != true {
                report.add(
                    problem: .pointer, library.pointer(shelf, of: asset).string,
                    "it names \(name), which does not exist. Restore the folder, or let the link name a "
                        + "version that is there.")
            }
        }
    }

    /// The published versions, from the current one as far back as they can be followed.
    var history: [Provenance] {
        var history: [Provenance] = []
        var next = pointed[.versions]?.description
        while let name = next, let version = versions[.versions]?[name],
            version.revision < history.last?.revision ?? .max
        {
            history.append(version)
            next = version.parent
        }
        return history
    }

    /// The draft.
    var draft: Provenance? { pointed[.drafts].flatMap { versions[.drafts]?[$0.description] } }

    /// Reports the entries that belong neither to the history nor to the draft.
    func checkStrays(
        _ asset: AssetPath, in library: LibraryFolder, now: Date, _ report: inout Verification
    ) {
        let history = history
        let tail = history.last
        if let tail, let parent = tail.parent, versions[.versions]?[parent] == nil,
            names[.versions]?.contains(where: { (VersionName($0)?.revision ?? 0) < tail.revision })
                == true
        {
            report.add(
                problem: .timeline, library.folder(tail, of: asset).string,
                "its parent \(parent) is missing or cannot be read, but older versions are there: the history "
                    + "is cut off. Restore it; undo cannot go behind it.")
        }
        let known = Set(history.map(\.version) + [draft?.version].compactMap { $0 })
        for shelf in Shelf.allCases {
            for (name, version) in (versions[shelf] ?? [:]).sorted(by: { $0.key < $1.key })
            where !known.contains(name) {
                let path = library.shelf(shelf, of: asset).appending(name).string
                let made = version.author.date ?? .distantPast
                if now.timeIntervalSince(made) > Retention.orphanAge {
                    report.add(
                        problem: .stray, path,
                        "it is in no history; minilab gc removes it when it is old enough.")
                } else {
                    report.add(
                        note: .stray, path,
                        "it is in no history yet: a worker publishes it now, or carries it on after a crash."
                    )
                }
            }
        }
    }
}

extension LibraryFolder {
    fileprivate func folder(_ version: Provenance, of asset: AssetPath) -> FilePath {
        folder(of: version, asset)
    }

    /// Returns the provenance in a folder, or nil after adding the reason to the report.
    fileprivate func read(_ folder: FilePath, _ report: inout Verification) -> Provenance? {
        let path = folder.appending(Provenance.fileName)
        do throws(Failure) {
            let bytes = try files.read(
                Provenance.fileName, in: folder, bytesMax: Provenance.fileBytesMax)
            if !Provenance.isSealed(Data(bytes)) {
                report.add(
                    problem: .provenance, path.string,
                    "it was changed after it was written: its digest is another one. Restore it.")
            }
            let provenance = try Provenance(reading: bytes, at: path)
            if provenance.version != folder.lastComponent?.string {
                report.add(
                    problem: .provenance, path.string,
                    "its provenance names the version \(provenance.version). Restore the folder.")
                return nil
            }
            return provenance
        } catch {
            report.add(problem: .provenance, path.string, error.message + " Restore it.")
            return nil
        }
    }
}
