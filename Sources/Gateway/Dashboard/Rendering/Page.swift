/// A page: its values and its rendering as HTML.
///
/// Rendering is a pure function without I/O.
package protocol Page: View {
    /// The viewer, and the parts that all pages share.
    var frame: Frame { get }
    /// The title, without the name of the program.
    var title: String { get }
    /// The page's section in the navigation.
    static var section: Section? { get }
    /// The name of the page's template, a file in `Templates/`.
    static var template: String { get }
    /// The parts that a stream can replace, as ids of elements. The part `p` of page `t` has the template `t-p`.
    static var parts: [String] { get }
    /// The JavaScript modules of the page beside ``StaticFile/everywhere``.
    static var modules: [String] { get }
    /// The path to which the browser navigates at once by itself; nil on all pages but one.
    var onward: String? { get }
    /// The stream of the page's parts, a URL of ``Links``; nil if no part changes.
    var live: String? { get }
}

extension Page {
    package static var section: Section? { nil }
    package static var parts: [String] { [] }
    package static var modules: [String] { [] }
    package var onward: String? { nil }
    package var live: String? { nil }

    /// Returns the whole page as HTML.
    package func render() -> String {
        "<!doctype html>\n" + Templates.render("layout", Shell(self, template: Self.template))
    }

    /// Returns one part: the content of the element whose id is `name`.
    ///
    /// - Parameter name: one of ``parts``.
    package func fragment(_ name: String) -> String {
        precondition(Self.parts.contains(name), "\(Self.self) has no part \(name).")
        return Templates.render(
            "fragment", Shell(self, template: Self.template + "-" + name))
    }

    /// All parts, as a stream sends them.
    package var fragments: [Fragment] {
        Self.parts.map { Fragment(id: $0, html: fragment($0)) }
    }
}

/// The new content of an element.
package struct Fragment: Sendable, Equatable, Encodable {
    /// The id of the element.
    package let id: String
    package let html: String

    /// The type of its event in the stream `/ui/live`. The event's data are the fragment as JSON on one line.
    package static let event = "part"
    /// The type of the heartbeat event, for a stream without changes; its data are ignored.
    package static let aliveEvent = "alive"
    /// The silence after which a page warns that it is stale. A stream must send one of the two events more often.
    package static let silenceMax: Duration = .seconds(6)
}
