public import Library
public import RenderProtocol
public import SystemPackage

extension ReachableFiles {
    /// What those children need that work for a library.
    ///
    /// - Parameters:
    ///   - resources: the folder of files that edits name by digest, or nil.
    ///   - results: another folder for results than the library's staging, or nil.
    public static func library(
        _ library: Library, resources: String?, results: FilePath? = nil
    ) -> ReachableFiles {
        ReachableFiles(
            readable: [library.originals, library.root.appending("edits")].map(\.string)
                + [resources].compactMap(\.self),
            writable: [results ?? library.root.appending("staging")].map(\.string))
    }

    /// What a child needs that works on a few photos.
    ///
    /// - Parameters:
    ///   - photos: absolute paths.
    ///   - results: the folder for results; nil when there are none.
    public static func photos(
        _ photos: Set<String>, resources: String?, results: String? = nil
    ) -> ReachableFiles {
        ReachableFiles(
            readable: photos.sorted() + [resources].compactMap(\.self),
            writable: [results].compactMap(\.self))
    }
}
