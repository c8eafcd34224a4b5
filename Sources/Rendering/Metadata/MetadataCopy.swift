import Edits
import Files
import PhotoFiles
import RenderProtocol

extension OpenedPhoto {
    /// Returns the copy of the photo's file with what an output writes into its metadata; nil if the file has no place for it.
    func metadataCopy(_ output: Recipe.Output) throws(Failure) -> FileRewrite? {
        guard let old = metadata, let changes = output.metadata, output.strip == .none else {
            return nil
        }
        var new = old
        _ = new.write(
            changes, size: header.storedSize,
            exifMax: file.format == .jpeg ? FileRewrite.exifMaxOfJPEG : .max)
        var window = file.window
        return FileRewrite(
            &window, file.format, from: old, to: new,
            texts: FileTextCopies(changes, of: old.texts))
    }

    /// Returns the notes about what an output writes, and the sizes of the metadata with it; nil if it writes nothing, or has
    /// placeholders still.
    func written(
        _ output: Recipe.Output
    ) -> (notes: [String], companions: PhotoCompanions)? {
        guard let own = metadata, output.writesMetadata, output.strip != .all,
            let changes = output.metadata, changes.isFilled
        else { return nil }
        var new = own
        let notes = new.write(changes, size: header.storedSize)
        var companions = companions
        companions.metadata.exifBytes = new.exif.map { Exif.withoutPrefix($0).count } ?? 0
        companions.metadata.xmpBytes = new.xmp?.count ?? 0
        companions.metadata.xmpFitsJPEG = new.xmp.map { ExtendedXMP.split($0) != nil } ?? true
        return (notes, companions)
    }
}

extension FileRewrite {
    /// Bytes that are copied at once.
    private static let chunkBytes = 256 << 10

    /// - Throws: `ioFailure`, `noSpace`.
    func write(_ source: OpenFile, to target: OpenFile) throws(Failure) {
        try target.cut(to: 0)
        var end = 0
        for piece in pieces {
            switch piece {
            case .new(let bytes):
                try target.write(bytes, at: end)
                end += bytes.count
            case .kept(let range):
                var offset = range.lowerBound
                while offset < range.upperBound {
                    let bytes = source.bytes(
                        from: offset, count: min(Self.chunkBytes, range.upperBound - offset))
                    guard !bytes.isEmpty else {
                        throw Failure(
                            .ioFailure,
                            "\(source.name) became shorter while it was copied. Put originals in their place by a rename."
                        )
                    }
                    try target.write(bytes, at: end)
                    offset += bytes.count
                    end += bytes.count
                }
            }
        }
    }
}
