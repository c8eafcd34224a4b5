/// A named number or text.
package struct Fact: View {
    let name: String
    let text: String
    let href: String?

    /// - Parameter href: a URL of ``Links``.
    package init(_ name: String, _ text: String, href: String? = nil) {
        self.name = name
        self.text = text
        self.href = href
    }
}
