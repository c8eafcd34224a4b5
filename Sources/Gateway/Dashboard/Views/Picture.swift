import Edits

/// A thumbnail of a version that links to its asset.
package struct Picture: View {
    let asset: String
    let href: String
    let source: String

    /// - Parameter version: the name of the version, or `original`.
    package init(asset: String, version: String) {
        self.asset = asset.printable
        href = Links.asset(asset)
        source = Links.picture(asset, version: version)
    }
}
