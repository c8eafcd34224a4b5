import Edits

/// A name that is compared by its bytes, as a bucket does. In Swift `ü` and `u` with a combining mark are equal.
struct ExactName: Hashable, Sendable {
    private let bytes: [UInt8]

    init(_ name: String) { bytes = Array(name.utf8) }

    init(_ asset: AssetPath) { self.init(asset.string) }
}
