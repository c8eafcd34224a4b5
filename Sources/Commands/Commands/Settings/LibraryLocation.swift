package import BlobStore
package import SystemPackage

/// The location of a library, from the settings.
package enum LibraryLocation {
    /// A folder; the originals are in its subfolder `originals` unless another folder is named.
    case folder(root: FilePath, originals: FilePath?)
    /// A bucket.
    case bucket(BucketSettings)

    /// Reads the settings of a library; the reader collects all faults.
    package init(_ reader: inout SettingsReader) {
        let root = reader.value(Settings.library, or: .folder(FilePath("")))
        let originals = reader.optional(Settings.originals)
        var bucket = BucketSettings(&reader)
        switch (root, originals) {
        case (.folder(let root), nil): self = .folder(root: root, originals: nil)
        case (.folder(let root), .folder(let originals)):
            self = .folder(root: root, originals: originals)
        case (.bucket(let url), nil):
            bucket.url = url
            self = .bucket(bucket)
        case (.bucket(let url), .bucket(let originals)):
            (bucket.url, bucket.originals) = (url, originals)
            self = .bucket(bucket)
        case (.folder, .bucket), (.bucket, .folder):
            reader.refuse(
                "library and originals are a folder and a bucket; both must be folders, or both must be s3:// URLs"
            )
            self = .folder(root: FilePath(""), originals: nil)
        }
    }
}

/// A folder or a prefix of a bucket.
package enum LibraryAddress: Sendable {
    case folder(FilePath)
    case bucket(BlobURL)
}
