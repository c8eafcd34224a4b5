/// A small picture of a version, with a way to its asset.
package struct Picture: View {
    let asset: String
    let href: String
    let source: String

    /// - Parameter version: its name, or `original`.
    package init(asset: String, version: String) {
        self.asset = asset
        href = Links.asset(asset)
        source = Links.picture(asset, version: version)
    }
}
