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

/// The parts that all pages share.
package struct Frame: View {
    /// The person who is signed in; nil on the sign-in page, and on errors before sign-in.
    let viewer: Viewer?
    /// The value of the hidden field `csrf` of each form.
    let csrf: String
    let version: String
    let queue: String?
    /// The result of the last form.
    let notice: Notice?

    package init(
        viewer: Viewer?, csrf: String, version: String, queue: String? = nil,
        notice: Notice? = nil
    ) {
        self.viewer = viewer
        self.csrf = csrf
        self.version = version
        self.queue = queue
        self.notice = notice
    }
}

package struct Viewer: View {
    /// The name for people: the key's label, or its id.
    let name: String
    /// The tenant whose jobs the person sees; nil for all tenants.
    let tenant: String?
    /// The granted scopes: `enqueue`, `read`, `operate`, `admin`. Pages offer no operation without its scope.
    let scopes: Set<String>

    package init(name: String, tenant: String?, scopes: Set<String>) {
        self.name = name
        self.tenant = tenant
        self.scopes = scopes
    }

    func maySee(_ section: Section) -> Bool {
        scopes.contains(section.scope) && (tenant == nil || section.isForTenants)
    }
}

/// A sentence about the result of a form, shown once.
package struct Notice: View {
    /// The importance of the notice: success, attention needed, or failure.
    package enum Tone: String, Sendable { case done, attention, trouble }

    let tone: String
    let icon: String
    let text: String

    package init(_ tone: Tone, _ text: String) {
        self.tone = tone.rawValue
        icon = tone == .done ? "✓" : tone == .attention ? "▲" : "✕"
        self.text = text
    }
}

package enum Section: String, Sendable, CaseIterable {
    case now, batches, dead, limits, doctor, keys, webhooks, audit

    /// The scope that a key needs to see the section.
    var scope: String {
        switch self {
        case .now, .dead, .limits: "operate"
        case .batches: "read"
        case .webhooks: "enqueue"
        case .doctor, .keys, .audit: "admin"
        }
    }

    /// Whether the section can be restricted to one tenant; the others show the queue as a whole.
    var isForTenants: Bool { [.batches, .dead, .webhooks].contains(self) }

    var href: String {
        switch self {
        case .now: Links.now
        case .batches: Links.batches
        case .dead: Links.dead
        case .limits: Links.limits
        case .doctor: Links.doctor
        case .keys: Links.keys
        case .webhooks: Links.webhooks
        case .audit: Links.audit
        }
    }

    /// The key that opens the section after `g`.
    var letter: String {
        switch self {
        case .now: "n"
        case .batches: "b"
        case .dead: "d"
        case .limits: "l"
        case .doctor: "o"
        case .keys: "k"
        case .webhooks: "w"
        case .audit: "a"
        }
    }

    struct Link: View {
        let text: String
        let href: String
        let letter: String
        let isCurrent: Bool

        init(_ section: Section, isCurrent: Bool) {
            text = section.rawValue.prefix(1).uppercased() + section.rawValue.dropFirst()
            href = section.href
            letter = section.letter
            self.isCurrent = isCurrent
        }
    }
}

/// The frame around each page, with the names that the layout uses.
struct Shell<Content: Page>: View {
    let title: String
    let page: Content
    /// The name of the template that renders the page's content.
    let template: String
    let csrf: String
    let version: String
    let queue: String?
    let viewer: Viewer?
    let notice: Notice?
    let links: [Section.Link]
    let live: String?
    let onward: String?
    let style: String
    let icon: String
    let scripts: [String]
    let findAction: String
    let signOutAction: String
    let canEnqueue: Bool
    let canOperate: Bool
    let canAdmin: Bool

    init(_ page: Content, template: String) {
        let frame = page.frame
        title = page.title
        self.page = page
        self.template = template
        csrf = frame.csrf
        version = frame.version
        queue = frame.queue
        viewer = frame.viewer
        notice = frame.notice
        links =
            frame.viewer.map { viewer in
                Section.allCases.filter(viewer.maySee)
                    .map { Section.Link($0, isCurrent: $0 == Content.section) }
            } ?? []
        live = page.live
        onward = page.onward
        style = StaticFile.style.path
        icon = StaticFile.icon.path
        scripts =
            (StaticFile.everywhere + Content.modules
            + (page.live == nil ? [] : [StaticFile.liveName]))
            .compactMap { StaticFile.named($0)?.path }
        findAction = Links.find
        signOutAction = Links.signOut
        canEnqueue = frame.viewer?.scopes.contains("enqueue") ?? false
        canOperate = frame.viewer?.scopes.contains("operate") ?? false
        canAdmin = frame.viewer?.scopes.contains("admin") ?? false
    }
}
