public import Editors
public import Edits
public import Files
public import FoundationEssentials
public import SystemPackage

/// Writes photos of a library into a folder, with names that Apple's tools pair.
///
/// A photo's files are written to a hidden folder, which is renamed when it is complete, and are moved from there.
/// So each file is complete or absent, no file is ever overwritten, and either all files of a photo exist or none.
/// After a crash between two moves, the next export to the folder moves the remaining files.
public struct Exporter: Sendable {
    private let library: any LibraryReader
    private let folder: FilePath
    private let files: FileSystem

    /// The folder in which files are written before they are named. It is completed or removed.
    static let staging = FilePath.Component(".minilab-export-new")
    /// The same folder after its completion. Its files are entitled to their names.
    static let sealed = FilePath.Component(".minilab-export")

    /// Creates an exporter of a library's photos to a folder.
    public init(_ library: any LibraryReader, to folder: FilePath, files: FileSystem = FileSystem())
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

/// A photo to export for Apple's tools: the original, and the edit if there is one.
public struct ExportedPhoto: Sendable, Equatable {
    public let asset: AssetPath
    /// The layers above it; nil if readers see the original.
    public let edit: Layers?
    /// The movie of a Live Photo beside the original; nil for a photo alone.
    public let pairedVideo: AssetPath?
    /// The renditions to write beside the render, in the order of their names.
    public let renditions: [Rendition]
    /// Notes for the operator, as sentences.
    public let notes: [String]

    init(
        asset: AssetPath, edit: Layers?, pairedVideo: AssetPath?, renditions: [Rendition] = [],
        notes: [String]
    ) {
        (self.asset, self.edit, self.pairedVideo) = (asset, edit, pairedVideo)
        (self.renditions, self.notes) = (renditions, notes)
    }

    /// A rendition of the version.
    public struct Rendition: Sendable, Equatable {
        public let name: String
        public let file: StoredFile
        public let fileExtension: String
    }

    /// The files beside an original.
    public struct Layers: Sendable, Equatable {
        public let version: String
        public let render: StoredFile
        /// The file extension of its actual format.
        public let renderExtension: String
        /// The movie of a Live Photo that belongs to the render; nil for a photo alone.
        public let pairedVideo: StoredFile?
        /// The bytes of the sidecar.
        public let sidecar: Data
    }

    /// The extension by which Apple's tools recognise the movie of a Live Photo.
    private static let movieSuffix = ".MOV"

    func files(as name: DCFName) -> [(name: String, source: Source)] {
        let suffix = FilePath(asset.string).extension.map { "." + $0.uppercased() } ?? ""
        var files = [(name: name.original + suffix, source: Source.stored(.original(asset)))]
        if let pairedVideo {
            files.append((name.original + Self.movieSuffix, .stored(.original(pairedVideo))))
        }
        for rendition in renditions {
            files.append(
                (
                    name.rendition(rendition.name) + "." + rendition.fileExtension,
                    .stored(rendition.file)
                ))
        }
        guard let edit else { return files }
        files.append((name.render + "." + edit.renderExtension, .stored(edit.render)))
        if let movie = edit.pairedVideo {
            files.append((name.render + Self.movieSuffix, .stored(movie)))
        }
        return files + [(name.sidecar, .bytes(edit.sidecar))]
    }

    /// The source of a file's bytes.
    enum Source {
        case stored(StoredFile)
        case bytes(Data)
    }
}

/// The report of a photo's export.
public struct ExportReport: Sendable, Equatable, Encodable {
    public let asset: AssetPath
    /// The version; nil for the original alone.
    public let version: String?
    /// The names of the written files, the original's first.
    public let files: [String]
    /// Notes for the operator, as sentences.
    public let notes: [String]
}

extension LibraryReader {
    /// Collects the files to export of a version.
    ///
    /// - Parameters:
    ///   - version: the version; nil: the original alone.
    ///   - codec: the codec that writes the adjustment data again; nil: they are exported unchanged.
    ///   - hasRenditions: whether the renditions of the version are exported, too.
    /// - Throws: `missingAsset`; `cannotHandleAdjustmentData` if the data are to be written again and no available
    ///   editor can read them; `adjustmentDataNotEncodable`; `badSidecar`, `ioFailure`.
    public func export(
        _ version: Provenance?, of asset: AssetPath, as codec: (any AdjustmentCodec)?,
        withRenditions hasRenditions: Bool = false
    ) async throws(Failure) -> ExportedPhoto {
        try await checkOriginal(of: asset)
        let (renditions, missing) = try await exportedRenditions(
            hasRenditions ? version : nil, asset)
        // A movie with the same name and any content identifier is the other half of the still.
        let movie = try await pairedVideos(of: asset).first { $0.contentIdentifier != nil }?.path
        guard let version, let content = version.content else {
            return ExportedPhoto(
                asset: asset, edit: nil, pairedVideo: movie, renditions: renditions, notes: missing)
        }
        let sidecar: Data
        if let codec {
            sidecar = try await content.rewritten(
                self.sidecar(of: content, in: version, asset), by: codec, of: asset
            ).encoded()
        } else {
            let file = try await open(StoredFile(content.adjustment.sidecar, of: version, asset))
            sidecar = try await offPool { () throws(Failure) in
                Data(
                    try FileSystem().read(
                        file, bytesMax: AAESidecar.fileBytesMax, oversized: .ioFailure))
            }
        }
        let hasBase =
            content.base == nil
            ? []
            : [
                "the edit was made on another editor's render, which these files cannot carry: a "
                    + "reader sees the render and cannot change the edit"
            ]
        return ExportedPhoto(
            asset: asset,
            edit: ExportedPhoto.Layers(
                version: version.version, render: try shownFile(of: version, asset),
                renderExtension: content.render.fileExtension,
                pairedVideo: try content.pairedVideo.map { movie throws(Failure) in
                    try StoredFile(movie.name, of: version, asset)
                }, sidecar: sidecar),
            pairedVideo: movie, renditions: renditions,
            notes: hasBase + missing)
    }

    /// Returns the renditions of a version with whole files, and a sentence about the others.
    private func exportedRenditions(
        _ version: Provenance?, _ asset: AssetPath
    ) async throws(Failure) -> ([ExportedPhoto.Rendition], [String]) {
        guard let name = version.flatMap({ VersionName($0.version) }) else { return ([], []) }
        let list = try await sizes(of: name, asset)
        var renditions: [ExportedPhoto.Rendition] = []
        var missing = Set(list.gone.keys)
        for key in list.names {
            guard let rendition = list.renditions[key] else { continue }
            guard try await isWhole(rendition, of: name, asset) else {
                missing.insert(key)
                continue
            }
            renditions.append(
                ExportedPhoto.Rendition(
                    name: key, file: .rendition(asset, version: name, file: rendition.file),
                    fileExtension: FilePath(rendition.file).extension?.uppercased() ?? ""))
        }
        return (
            renditions,
            missing.isEmpty
                ? []
                : [
                    "renditions without a file are left out: \(missing.sorted().joined(separator: ", "))"
                ]
        )
    }
}

extension Content {
    fileprivate func rewritten(
        _ sidecar: AAESidecar, by codec: any AdjustmentCodec, of asset: AssetPath
    ) throws(Failure) -> AAESidecar {
        guard let recipe else {
            throw Failure(
                .cannotHandleAdjustmentData,
                "the edit of \(asset.string.debugDescription) is of \(adjustment.formatIdentifier) "
                    + "\(adjustment.formatVersion), which no editor here reads; it cannot be written as "
                    + "\(codec.formatIdentifier). Export it without --as.")
        }
        let data = AdjustmentData(
            formatIdentifier: codec.formatIdentifier, formatVersion: codec.writtenVersion,
            data: try codec.write(recipe, for: input.photo))
        return AAESidecar(
            data, on: sidecar.base,
            timestamp: sidecar.adjustmentTimestamp ?? Date(timeIntervalSince1970: 0))
    }
}

extension Content.Image {
    /// The extension of its format in upper case: `JPG`, `Codecs`, `TIF`.
    var fileExtension: String {
        let mediaType = file.mediaType
        let format = mediaType.split(separator: "/").last.map(String.init) ?? mediaType
        if let known = Recipe.Format.allCases.first(where: { $0.mediaType == mediaType }) {
            return known.fileExtension.uppercased()
        }
        // An imported render has the media type of its content: HEIC and AVIF are both heif.
        return format == "heif" ? "HEIC" : format.uppercased()
    }
}
