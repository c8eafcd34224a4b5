package import BlobStore
package import SystemPackage

/// Where a library is, as settings say.
package enum LibraryLocation {
    /// In a folder; the originals are in its folder `originals` unless another one is named.
    case folder(root: FilePath, originals: FilePath?)
    /// In a bucket.
    case bucket(BucketSettings)

    /// Reads the settings of a library; all that is wrong is told by the reader.
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
                "library and originals are a folder and a bucket; both have to be folders, or both s3:// URLs"
            )
            self = .folder(root: FilePath(""), originals: nil)
        }
    }
}

/// A folder or a part of a bucket.
package enum LibraryPlace: Sendable {
    case folder(FilePath)
    case bucket(BlobURL)
}
