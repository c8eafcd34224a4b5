package import Adjustments

/// A step of an edit as people read it.
package struct EditStep: View {
    let name: String
    /// Such as `inputIntensity 0.8`.
    let parameters: [String]

    package init(name: String, parameters: [String]) {
        self.name = name
        self.parameters = parameters
    }

    package init(_ filter: Filter) { self.init(name: filter.name, parameters: filter.words) }
}

/// A line of what makes one edit another.
package struct DiffLine: View {
    /// `added`, `removed`, `changed`, `same`.
    let kind: String
    /// `+`, `−`, `~`, or none.
    let sign: String
    let text: String

    /// - Parameter line: of `RecipeComparison.words`: its first character is the sign.
    package init(_ line: String) {
        switch line.first {
        case "+": (kind, sign) = ("added", "+")
        case "-": (kind, sign) = ("removed", "−")
        case "~": (kind, sign) = ("changed", "~")
        default: (kind, sign) = ("same", " ")
        }
        text = String(line.dropFirst())
    }
}
