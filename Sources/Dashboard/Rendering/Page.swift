/// A page: its values, and how they become HTML.
///
/// Rendering is pure and needs no I/O.
package protocol Page: View {
    /// The viewer, and the parts that all pages share.
    var frame: Frame { get }
    /// The title, without the name of the program.
    var title: String { get }
    /// Which entry of the navigation it belongs to.
    static var section: Section? { get }
    /// Its template: the name of a file in `Templates/`.
    static var template: String { get }
    /// The parts that a stream may replace: ids of elements. The part `p` of page `t` has the template `t-p`.
    static var parts: [String] { get }
    /// The modules that it needs beside ``StaticFile/everywhere``.
    static var modules: [String] { get }
    /// The path that a browser goes on to by itself, at once; nil on all pages but one.
    var onward: String? { get }
    /// The stream of its parts: a URL of ``Links``; nil when nothing moves.
    var live: String? { get }
}

extension Page {
    package static var section: Section? { nil }
    package static var parts: [String] { [] }
    package static var modules: [String] { [] }
    package var onward: String? { nil }
    package var live: String? { nil }

    /// The whole page, as HTML.
    package func render() -> String {
        "<!doctype html>\n" + Templates.render("layout", Shell(self, template: Self.template))
    }

    /// One of its parts: the inside of the element whose id is `name`.
    ///
    /// - Parameter name: one of ``parts``.
    package func fragment(_ name: String) -> String {
        precondition(Self.parts.contains(name), "\(Self.self) has no part \(name).")
        return Templates.render(
            "fragment", Shell(self, template: Self.template + "-" + name))
    }

    /// All its parts, as a stream sends them.
    package var fragments: [Fragment] {
        Self.parts.map { Fragment(id: $0, html: fragment($0)) }
    }
}

/// The inside of an element, to be replaced.
package struct Fragment: Sendable, Equatable, Encodable {
    /// The element's id.
    package let id: String
    package let html: String

    /// The type of its event in the stream `/ui/live`; its data are the fragment as JSON, on one line.
    package static let event = "part"
    /// The type of the event that says that the stream lives though nothing changed; its data do not matter.
    package static let aliveEvent = "alive"
    /// How long a stream may be silent before a page says that it is stale: send one of both more often.
    package static let silenceMax: Duration = .seconds(6)
}
