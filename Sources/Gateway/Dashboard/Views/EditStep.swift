package import Edits

/// A step of an edit, for display.
package struct EditStep: View {
    let name: String
    /// The parameters, such as `inputIntensity 0.8`.
    let parameters: [String]

    package init(name: String, parameters: [String]) {
        self.name = name
        self.parameters = parameters
    }

    package init(_ filter: Filter) {
        self.init(name: filter.name, parameters: filter.parameterLines)
    }
}

/// One line of the difference between two edits.
package struct DiffLine: View {
    /// The kind of change: `added`, `removed`, `changed`, `same`.
    let kind: String
    /// The sign of the change: `+`, `−`, `~`, or none.
    let sign: String
    let text: String

    /// - Parameter line: a line of `RecipeComparison.lines`, whose first character is the sign.
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
