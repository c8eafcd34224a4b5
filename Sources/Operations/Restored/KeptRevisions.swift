import Library

/// The numbers of an asset's versions that a library has, and those that are lost of it.
///
/// A version that is not kept may have been collected, but then a later one is current. So one is lost if its number is above that of
/// the current version, if the history has another version of its number, or if the history leaves its number out.
struct KeptRevisions: Sendable {
    /// A version of the history.
    struct Version: Sendable {
        let name: VersionName
        /// The number of the version that it was made from; 0: the original.
        let parent: Int
        /// As in ``Provenance/told``.
        let told: Int?
    }

    private let current: Int
    private let kept: [Int: VersionName]
    private let leftOut: [ClosedRange<Int>]

    /// - Parameters:
    ///   - current: the number of the current version; 0: the original.
    ///   - history: the kept versions.
    init(current: Int, _ history: [Version]) {
        self.current = current
        kept = Dictionary(history.map { ($0.name.revision, $0.name) }) { first, _ in first }
        leftOut = history.compactMap { version in
            guard let told = version.told, version.parent < told else { return nil }
            return version.parent + 1...told
        }
    }

    /// Returns whether a version that was told is lost.
    func lacks(_ name: VersionName) -> Bool {
        if name.revision > current { return true }
        if let other = kept[name.revision] { return other != name }
        return leftOut.contains { $0.contains(name.revision) }
    }
}
