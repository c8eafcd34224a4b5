package import Mustache

/// Values that a template names.
///
/// A field that is nil is empty; without this, swift-mustache would look for a field of its name in the views around.
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

/// A field that is there and has no value.
private struct Nothing: MustacheCustomRepresentation {
    var representation: Any? { nil }
}
