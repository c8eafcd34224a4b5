import Adjustments

/// A name by its bytes, as a bucket tells names apart: to Swift `ü` and `u` with a mark behind it are the same.
struct ExactName: Hashable, Sendable {
    private let bytes: [UInt8]

    init(_ name: String) { bytes = Array(name.utf8) }

    init(_ asset: AssetPath) { self.init(asset.string) }
}
