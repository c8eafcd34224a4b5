public import Adjustments
import FoundationEssentials
import Glibc
import SystemPackage

/// What became of a version that was to be published.
public enum Publication: Sendable, Equatable {
    /// It is current now.
    case published
    /// It was published before: by us ahead of a crash, or by the worker that carried our job on.
    case alreadyPublished
    /// Another version became current since the render started: render again, on that one.
    case conflict(current: VersionName?)
    /// The staged version is not there: render again.
    case lost
}

extension Library {
    /// Makes a staged version current, if what it was made from is still current.
    ///
    /// Idempotent: called again after a crash anywhere it finds what was done and does the rest.
    ///
    /// 1. The staged folder is moved to its place among the asset's versions.
    /// 2. The pointer is replaced by one that points to it.
    ///
    /// Both happen under the asset's lock, which the kernel frees when its holder dies.
    public func publish(
        _ name: VersionName, of asset: AssetPath, from staged: StagedVersion
    ) throws(Failure) -> Publication {
        try Files.makeFolder(versions(of: asset))
        return try AssetLock.hold(folder(of: asset).appending("lock")) { () throws(Failure) in
            try publishLocked(name, of: asset, from: staged)
        }
    }

    private func publishLocked(
        _ name: VersionName, of asset: AssetPath, from staged: StagedVersion
    ) throws(Failure) -> Publication {
        let current = try current(of: asset)
        if current == name { return .alreadyPublished }
        let place = versions(of: asset).appending(name.description)
        let source = folder(of: staged)
        let isPlaced = try Files.exists(place)
        if isPlaced, try isAncestor(name, of: current, asset) { return .alreadyPublished }
        let isStaged = try Files.exists(source)
        guard isPlaced || isStaged else { return .lost }
        let base = try provenance(in: isPlaced ? place : source).base
        guard current?.description == base else { return .conflict(current: current) }

        if !isPlaced {
            try Files.move(source, to: place)
            try Files.sync(versions(of: asset))
        }
        try point(asset, to: name, by: source)
        return .published
    }

    /// The provenance of a published version.
    public func provenance(of name: VersionName, _ asset: AssetPath) throws(Failure) -> Provenance {
        try provenance(in: versions(of: asset).appending(name.description))
    }

    /// A link cannot be overwritten, but it can be renamed: so a new one is made and moved over the
    /// old. It is made where the staged folder was, so that what a crash leaves is swept with the rest.
    private func point(
        _ asset: AssetPath, to name: VersionName, by link: FilePath
    ) throws(Failure) {
        try Files.remove(link)
        guard symlink("versions/\(name)", link.string) == 0 else {
            throw Files.failure("making the link", link)
        }
        try Files.move(link, to: pointer(of: asset))
        try Files.sync(folder(of: asset))
    }

    /// Whether `current` was made on top of `name`, however many edits later.
    private func isAncestor(
        _ name: VersionName, of current: VersionName?, _ asset: AssetPath
    ) throws(Failure) -> Bool {
        var next = current
        // Revisions fall by one with each step, so this ends.
        while let version = next, version.revision >= name.revision {
            if version == name { return true }
            next = try provenance(of: version, asset).base.flatMap(VersionName.init)
        }
        return false
    }

    private func provenance(in folder: FilePath) throws(Failure) -> Provenance {
        let path = folder.appending(Provenance.fileName)
        let bytes = try Files.read(path, bytesMax: Provenance.fileBytesMax)
        do {
            return try JSONDecoder().decode(Provenance.self, from: Data(bytes))
        } catch {
            throw Failure(.ioFailure, "\(path) cannot be read: \(error)")
        }
    }
}
