package import Mustache

/// The values of a template.
///
/// A nil field renders as empty text. Without this protocol, swift-mustache would search the enclosing views for a
/// field with the same name.
package protocol View: Sendable, MustacheParent {}

extension View {
    package func child(named name: String) -> Any? {
        for field in Mirror(reflecting: self).children where field.label == name {
            let value = Mirror(reflecting: field.value)
            guard value.displayStyle == .optional else { return field.value }
            return value.children.first?.value ?? Nothing()
        }
        return nil
    }
}

/// The value of a field that exists and is nil.
private struct Nothing: MustacheCustomRepresentation {
    var representation: Any? { nil }
}
